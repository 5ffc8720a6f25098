"""A disk that fails, at every call that a run makes of it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from evaluator_runs import HERE, PATIENCE_S, agentquest, environment

import warm_python

GAMES = 3


def outcomes(folder: Path, kind: str) -> list[dict[str, Any]]:
    script = [HERE / "faulty_disk.py", folder, kind]
    done = warm_python.run(script, env=environment(), timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "said", "least"),
    [
        ("open", "Too many open files", 10),
        ("write", "No space left on device", 2),
        ("fsync", "Input/output error", 5),
        ("rename", "No space left on device", 3),
    ],
)
def test_whichever_call_fails_it_is_one_line_and_nothing_is_lost(
    tmp_path: Path, kind: str, said: str, least: int
) -> None:
    found = outcomes(tmp_path, kind)
    assert len(found) >= least
    assert any(each["code"] == 2 for each in found)
    for each in found:
        assert each["code"] in (0, 2), each
        assert "Traceback" not in each["said"], each
        if each["code"] == 2:
            last = each["said"].splitlines()[-1]
            assert last.startswith("agentquest: cannot "), each
            assert last.endswith(said), each
            assert "/run" in last, each  # which file it was
        assert each["drafts"] == [], each
        assert each["again"] == 0, each
        # What was on disk stays as it was, and only the rest is played.
        assert each["in_all"][: len(each["kept"])] == each["kept"], each
        assert len(each["in_all"]) == len({key for key, _ in each["in_all"]}) == GAMES, each


def test_a_run_on_a_disk_that_can_only_be_read_says_so(tmp_path: Path) -> None:
    (each,) = outcomes(tmp_path, "read-only")
    assert 0 < len(each["kept"]) < GAMES
    assert each["code"] == 2
    assert each["said"].splitlines()[-1].endswith("Read-only file system")
    assert "Traceback" not in each["said"]


@pytest.mark.parametrize("form", ["text", "markdown", "csv", "html"])
def test_a_report_to_a_full_disk_is_one_line(tmp_path: Path, form: str) -> None:
    played = agentquest(
        tmp_path, "eval", "benchmark=mastermind", "agent=random", "max_steps=2", "num_games=1",
        "output_dir=.", "run_name=run",
    )  # fmt: skip
    assert played.returncode == 0, played.stderr
    device = tmp_path / "full"  # by a link: a device that was replaced would be missed by others
    device.symlink_to("/dev/full")
    for output in ([], ["--output", str(device)]):
        with device.open("w") as full:
            process = warm_python.Process(
                ["-m", "agentquest", "report", "run", "--format", form, *output],
                cwd=tmp_path,
                env=environment(),
                stdout=full,
                stderr=subprocess.PIPE,
            )
            _, said = process.communicate(timeout=PATIENCE_S)
        if form == "html" and not output:
            assert process.returncode == 0  # written beside the run, not to the output
        else:
            assert process.returncode == 2, said
            assert said.count("\n") == 1
            assert said.startswith("agentquest: cannot ")
        assert device.is_char_device()
