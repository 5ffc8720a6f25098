"""Pages that the site makes from the code, so that they cannot lag: commands and settings.

Called by mkdocs while it builds; see `hooks` in mkdocs.yml.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel
from typer.core import TyperCommand, TyperGroup, TyperOption

from agentquest import registry
from agentquest.cli.app import COMMANDS, build
from agentquest.config.settings import RunConfig, settings_model
from agentquest.lib.settings import describe_fields

KINDS = {"agent": "agent", "model": "llm", "executor": "executor", "benchmark": "benchmark"}
_NAMED_BLOCK = re.compile(r"^```(\w+) ([\w./-]+)$", re.MULTILINE)
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages made here."""
    for name, text in (("commands", commands_page()), ("settings", settings_page())):
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Write what only the site understands.

    Named blocks get a title. Files beside the documentation are in the repository, whose
    address may be unknown.
    """
    home = os.environ.get("AGENTQUEST_REPOSITORY", "").rstrip("/")
    markdown = _NAMED_BLOCK.sub(r'```\1 title="\2"', markdown)
    return _OUTSIDE.sub(rf"[\1]({home}/blob/HEAD/\2)" if home else r"`\2`", markdown)


def commands_page() -> str:
    """Every command with its explanation, arguments and options."""
    parts = [
        "# Commands",
        "`agentquest COMMAND --help` says the same in the terminal. Exit codes are the same for"
        " every command: 0 done, 1 incomplete (some episodes have no score, or a check failed),"
        " 2 bad arguments, configuration or data, 130 stopped by Ctrl-C (128 + n: by signal n).",
    ]
    for name in COMMANDS:
        group = typer.main.get_command(build([name]))
        assert isinstance(group, TyperGroup)
        command = group.commands[name]
        assert isinstance(command, TyperCommand)
        parts += _command(name, command)
    return "\n\n".join(parts) + "\n"


def _command(name: str, command: TyperCommand) -> Iterator[str]:
    usage = " ".join(command.collect_usage_pieces(typer.Context(command)))
    yield f"## `{name}`"
    yield f"```text\nagentquest {name} {usage}\n```"
    # Indented lines are examples, which Markdown leaves alone.
    lines = (command.help or "").replace("\b", "").splitlines()
    yield "\n".join(line if line.startswith("    ") else _escaped(line) for line in lines)
    rows = [row for row in map(_parameter, command.params) if row]
    if rows:
        yield "\n".join(["| argument | meaning |", "|---|---|", *rows])


def _parameter(parameter: Any) -> str:
    """A row; empty for what is not shown."""
    if isinstance(parameter, TyperOption):
        if parameter.hidden:
            return ""
        names, text = ", ".join([*parameter.opts, *parameter.secondary_opts]), parameter.help or ""
    else:
        names, text = parameter.name.upper(), parameter.help or ""
    default = parameter.default
    shown = default not in (None, False, "", ()) and not callable(default)
    return _row(f"`{names}`", f"{text} Default: `{default}`." if shown else text)


def settings_page() -> str:
    """Every setting of a run and of everything that is registered."""
    parts = [
        "# Settings",
        "Keys of the YAML file, of `agentquest eval key=value`, and of `agentquest.evaluate`.",
        "## A run",
        _table(RunConfig),
    ]
    for kind, section in KINDS.items():
        for name in registry.names(kind):
            model = settings_model(kind, name)
            if model.model_fields:
                parts += [f"## `{section}`: {name}", _table(model)]
    return "\n\n".join(parts) + "\n"


def _table(model: type[BaseModel]) -> str:
    rows = ["| key | default | meaning |", "|---|---|---|"]
    texts = describe_fields(model)
    for name, field in model.model_fields.items():
        default = field.get_default(call_default_factory=True) if not field.is_required() else None
        shown = "required" if field.is_required() else f"`{_plain(default)}`"
        rows.append(_row(f"`{name}`", shown, texts[name]))
    return "\n".join(rows)


def _plain(value: Any) -> str:
    """A default as one would write it in YAML."""
    if isinstance(value, BaseModel):
        return str(getattr(value, "name", "…"))
    value = getattr(value, "value", value)
    if isinstance(value, str | PurePath):
        return str(value) or "''"
    return json.dumps(value)


def _row(*cells: str) -> str:
    return (
        "| "
        + " | ".join(_escaped(" ".join(cell.split())).replace("|", "\\|") for cell in cells)
        + " |"
    )


def _escaped(text: str) -> str:
    """Help texts are plain text: only what stands in back-quotes is marked."""
    return "`".join(
        part if odd else re.sub(r"([\[\]<>*_])", r"\\\1", part)
        for odd, part in ((position % 2, part) for position, part in enumerate(text.split("`")))
    )
