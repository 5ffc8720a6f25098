"""`agentquest rerun`: an earlier run again, in a directory of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from agentquest.api import free_name
from agentquest.cli.benchmark_choice import as_overrides
from agentquest.cli.eval import evaluate_here, show
from agentquest.config import load_config
from agentquest.files import explain_errors, open_regular
from agentquest.lib.yaml_files import read_yaml
from agentquest.records.manifest import Manifest, flat
from agentquest.running.run import Run
from agentquest.safe_text import say
from agentquest.store.folder import CONFIG, RunFolder
from agentquest.words import counted

_OF_THE_PLACE = frozenset({"run_name", "output_dir"})


def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run directory.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="What to change: key.path=value or --key value."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would differ, without running it.")
    ] = False,
) -> None:
    """Run an earlier run's configuration again, in a new directory next to it.

    Prints what differs from that run: your overrides, and data or versions that have changed
    since. API keys are never saved: if the configuration contained one, pass it again.

    Example: agentquest rerun runs/first llm.temperature=0 tags=cold
    """
    earlier = RunFolder(run)
    manifest = earlier.manifest()
    changes = as_overrides(overrides or [], ["--dry-run"])
    here = {"output_dir": str(run.parent), "run_name": free_name(run)}
    with explain_errors("read", run / CONFIG):
        open_regular(run / CONFIG).close()
    saved = _still_meant(read_yaml(run / CONFIG), changes)
    settings, warnings = load_config(None, changes, {**saved, **here})
    again = Run(settings)
    show(warnings, again)
    say(f"again: {run} -> {again.directory.path}", err=True)
    for line in _differences(manifest, again.manifest()) or ["nothing differs"]:
        say(f"  {line}", err=True)
    if dry_run:
        say(f"{counted(len(again.specs), 'episode')}, run directory {again.directory.path}")
        return
    say(f"to resume it: agentquest eval -c {again.directory.path / CONFIG}", err=True)
    evaluate_here(again)


def _still_meant(saved: dict[str, Any], changes: Sequence[str]) -> dict[str, Any]:
    """The saved settings, without those of a replaced agent, model or benchmark."""
    chosen = dict(change.partition("=")[::2] for change in changes)
    replaced: list[str] = []
    for section, name in (("agent", "name"), ("executor", "name"), ("llm", "provider")):
        now = chosen.get(section, chosen.get(f"{section}.{name}"))
        if now is not None and now != (saved.get(section) or {}).get(name):
            replaced.append(section)
    if chosen.get("benchmark", saved.get("benchmark")) != saved.get("benchmark"):
        replaced += ["benchmark_settings", "max_steps"]
    return {key: value for key, value in saved.items() if key not in replaced}


def _differences(was: Manifest, now: Manifest) -> list[str]:
    """Differences that may change scores first, then the others."""
    deciding = was.differences(now)
    before, after = flat(was.config), flat(now.config)
    told = {line.partition(":")[0] for line in deciding}
    return deciding + [
        f"{path}: was {before.get(path)!r}, is {after.get(path)!r} (cannot change scores)"
        for path in sorted({*before, *after} - told - _OF_THE_PLACE)
        if before.get(path) != after.get(path) and path not in flat(now.deciding)
    ]
