"""A key is found nowhere: not in the run directory, the log, reports, the terminal, nor a cache."""

from pathlib import Path

import pytest
from evaluator_runs import agentquest, model_at, rule_server

from agentquest.store.folder import RunFolder

KEY = "sk-test-5up3rs3cr3t-0123456789abcdef"


def everything_in(folder: Path) -> list[tuple[str, bytes]]:
    return [(str(path), path.read_bytes()) for path in folder.rglob("*") if path.is_file()]


def test_a_key_that_the_server_echoes_is_found_nowhere(tmp_path: Path) -> None:
    said = ""
    with rule_server(
        "--api-key",
        KEY,
        "--fault",
        "echo-key-500=0.2",
        "--fault",
        "echo-key-in-reply=0.3",
    ) as url:
        arguments = [
            *model_at(url),
            "num_games=6",
            "max_steps=6",
            "run_name=r",
            "llm.cache_dir=cache",
            "debug=true",
        ]
        done = agentquest(tmp_path, "eval", *arguments, "llm.api_key_env=A_KEY", A_KEY=KEY)
        assert done.returncode == 0, done.stderr
        said += done.stdout + done.stderr
        tried = agentquest(tmp_path, "eval", *arguments, f"llm.api_key={KEY}", "--dry-run")
        assert tried.returncode == 0, tried.stderr
        said += tried.stdout + tried.stderr
    run = tmp_path / "runs" / "r"
    # The echoes really came, and were really masked.
    replies = [step.reply for record in RunFolder(run).records() for step in record.steps]
    assert any(reply.startswith("Bearer *** THINK:") for reply in replies)
    assert all("***" in reply or reply.startswith("THINK:") for reply in replies)
    for shown in ("text", "markdown", "csv", "html"):
        told = agentquest(tmp_path, "report", "runs/r", "-f", shown)
        assert told.returncode == 0, told.stderr
        said += told.stdout + told.stderr
    files = everything_in(tmp_path)
    assert {Path(name).name for name, _ in files} >= {"run.log", "index.html", "config.yaml"}
    assert any("cache" in name for name, _ in files)
    for name, content in files:
        assert KEY.encode() not in content, name
    assert KEY not in said


@pytest.mark.parametrize("asked_first", [True, False])
def test_a_key_that_is_refused_is_found_nowhere(tmp_path: Path, asked_first: bool) -> None:
    with rule_server("--fault", "echo-key=1.0") as url:
        done = agentquest(
            tmp_path,
            "eval",
            *model_at(url),
            "num_games=2",
            f"preflight={asked_first}",
            "llm.api_key_env=A_KEY",
            A_KEY=KEY,
        )
    assert done.returncode == (2 if asked_first else 1)
    assert ": HTTP 401: Refused: Bearer ***" in done.stderr
    assert KEY not in done.stdout + done.stderr
    for name, content in everything_in(tmp_path):
        assert KEY.encode() not in content, name
