"""`agentquest eval` as people use it: stopping it, going on, and being told what is wrong."""

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from evaluator_runs import (
    HERE,
    PATIENCE_S,
    agentquest,
    command,
    environment,
    lines_in,
    model_at,
    outcomes,
    rule_server,
    scored_keys,
    started,
    wait_until,
)

from agentquest.cli import main
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.store import lines as episode_lines
from agentquest.store.folder import RunFolder

GAMES = 24


def test_it_works_offline_without_any_configuration(tmp_path: Path) -> None:
    done = agentquest(tmp_path, "eval", "data_path=builtin", "num_games=6")
    assert done.returncode == 0, done.stderr
    assert "6/6" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert {path.name for path in run.iterdir()} >= {
        "config.yaml",
        "manifest.json",
        "episodes.jsonl",
        "results.json",
        "run.log",
    }
    assert f"run directory: runs/{run.name}" in done.stderr
    again = agentquest(tmp_path, "eval", "data_path=builtin", "num_games=6")
    assert again.returncode == 0
    assert "resuming: 6 of 6 episodes already played" in again.stderr
    assert again.stdout == done.stdout
    (run / "results.json").unlink()
    agentquest(tmp_path, "eval", "data_path=builtin", "num_games=6")
    assert (run / "results.json").is_file()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_stopping_says_how_to_go_on_and_loses_nothing_finished(
    tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.01") as url:
        arguments = ["eval", *model_at(url), f"num_games={GAMES}", "parallel=4", "run_name=r"]
        with started(tmp_path, *arguments) as process:
            wait_until(lambda: lines_in(run) >= 3, "three finished episodes")
            process.send_signal(number)
            said, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 128 + number
        assert "Traceback" not in told
        finished = scored_keys(run)
        assert len(finished) >= 3
        assert (run / "episodes.jsonl").read_bytes().endswith(b"\n")
        if number is signal.SIGHUP:
            assert said == "", "there is nobody to tell"
        else:
            owed = re.search(
                r"(\d+) of 24 episodes still to play; run the same command again", told
            )
            assert owed is not None, told
            assert len(finished) == GAMES - int(owed[1])
            assert (said + told).count("the same command again") == 1
            assert "AgentQuest report: r" in said
        done = agentquest(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"resuming: {len(finished)} of {GAMES} episodes already played" in done.stderr
    keys = scored_keys(run)
    assert len(keys) == len(set(keys)) == GAMES
    assert keys[: len(finished)] == finished
    assert len(outcomes(run)) == GAMES


def test_a_run_under_nohup_survives_its_terminal(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.01") as url:
        arguments = ["eval", *model_at(url), "num_games=6", "parallel=2", "run_name=r"]
        before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
        try:
            with started(tmp_path, *arguments) as process:
                wait_until(lambda: lines_in(run) >= 1, "a finished episode")
                process.send_signal(signal.SIGHUP)
                _, told = process.communicate(timeout=PATIENCE_S)
        finally:
            signal.signal(signal.SIGHUP, before)
    assert process.returncode == 0, told
    assert len(scored_keys(run)) == 6


def test_a_second_ctrl_c_waits_for_nobody_s_code(tmp_path: Path) -> None:
    shutil.copy(HERE / "odd_agents.py", tmp_path / "somebodys_agents.py")
    arguments = ["data_path=builtin", "num_games=2", "agent=somebodys_agents:Stubborn"]
    with started(tmp_path, "eval", *arguments, "run_name=r") as process:
        live = tmp_path / "runs" / "r" / "live.jsonl"
        wait_until(lambda: live.is_file() and live.stat().st_size > 0, "the first episode")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        wait_until(lambda: "press again" in process.stderr.readline(), "the answer to Ctrl-C")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) == 130
    # It gave nothing away that it waited for: the agent never let go.
    assert lines_in(tmp_path / "runs" / "r") == 0


def test_a_person_can_be_evaluated(tmp_path: Path) -> None:
    done = subprocess.run(
        command("eval", "data_path=builtin", "num_games=2", "agent=human"),
        cwd=tmp_path,
        env=environment(),
        input="look\ninventory\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    (run,) = (tmp_path / "runs").iterdir()
    first, second = RunFolder(run).records()
    assert [step.action for step in first.steps] == ["look", "inventory", None]
    assert [step.action for step in second.steps] == [None], "games wait for each other"
    assert (first.end, second.end) == (End.GAVE_UP, End.GAVE_UP)
    assert first.goal in done.stdout


def test_resuming_reads_no_record_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    read: list[str] = []
    parse = episode_lines._parse

    def counting(content: bytes, where: str) -> EpisodeRecord:
        read.append(where)
        return parse(content, where)

    monkeypatch.setattr(episode_lines, "_parse", counting)
    arguments = ["eval", "data_path=builtin", "num_games=4", "agent=oracle", "run_name=r"]
    with pytest.raises(SystemExit, match="0"):
        main(arguments)
    assert read == []
    with pytest.raises(SystemExit, match="0"):
        main([*arguments, "parallel=2"])
    assert read == []
    assert "4/4" in capsys.readouterr().out


def test_two_processes_cannot_run_into_one_directory(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.3") as url:
        arguments = ["eval", *model_at(url), "num_games=6", "run_name=r", "use_few_shot=false"]
        with started(tmp_path, *arguments) as first:
            wait_until(lambda: (run / ".lock").exists(), "the first to have begun")
            # Held still meanwhile, so that it cannot be done before the second has looked.
            first.send_signal(signal.SIGSTOP)
            second = agentquest(tmp_path, *arguments)
            first.send_signal(signal.SIGCONT)
            assert second.returncode == 2
            assert second.stderr.splitlines()[-1] == (
                "agentquest: runs/r is in use by another process"
            )
            _, told = first.communicate(timeout=PATIENCE_S)
            assert first.returncode == 0, told
    keys = scored_keys(run)
    assert len(keys) == len(set(keys)) == 6


def test_another_configuration_under_the_same_name_is_refused_with_the_difference(
    tmp_path: Path,
) -> None:
    arguments = ["eval", "data_path=builtin", "num_games=2", "run_name=r", "agent.name=oracle"]
    assert agentquest(tmp_path, *arguments).returncode == 0
    before = outcomes(tmp_path / "runs" / "r")
    changed = agentquest(tmp_path, *arguments, "max_steps=49", "num_games=3", "parallel=2")
    assert changed.returncode == 2
    assert changed.stderr.splitlines() == [
        "agentquest: runs/r was made with a different configuration:",
        "  max_steps: was 50, is 49",
        "  num_games: was 2, is 3",
        "  data_hash changed",
        "  task_ids changed",
        "Use another run_name (or none), or --fresh, to start a new run.",
    ]
    assert outcomes(tmp_path / "runs" / "r") == before
    same = agentquest(tmp_path, *arguments, "parallel=2", "debug=true", "save_prompts=false")
    assert same.returncode == 0
    unnamed = [argument for argument in arguments if argument != "run_name=r"]
    assert agentquest(tmp_path, *unnamed).returncode == 0
    assert agentquest(tmp_path, *unnamed, "max_steps=49").returncode == 0
    assert len(list((tmp_path / "runs").iterdir())) == 3


def test_a_missing_key_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    done = agentquest(
        tmp_path, "eval", "model=m", "llm.api_key_env=NO_SUCH_VARIABLE", "data_path=builtin"
    )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "agentquest: api_key_env: the variable NO_SUCH_VARIABLE is not set; export it"
    )
    assert not (tmp_path / "runs").exists()


def test_a_full_disk_is_one_line_and_the_run_can_go_on(tmp_path: Path) -> None:
    """No file may grow beyond a limit, which a system tells as it tells of a full disk."""
    arguments = ["eval", "data_path=builtin", "num_games=12", "agent=oracle", "run_name=r"]
    limited = subprocess.run(
        ["bash", "-c", 'ulimit -f 60; exec "$@"', "-", *command(*arguments)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert limited.returncode == 2
    assert "Traceback" not in limited.stderr
    assert re.match(r"agentquest: cannot write .*: File too large", limited.stderr.splitlines()[-1])
    done = agentquest(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert len(outcomes(tmp_path / "runs" / "r")) == 12


def test_a_run_in_which_all_failed_says_why_before_any_figure(tmp_path: Path) -> None:
    arguments = ["eval", "model=m", "llm.base_url=http://127.0.0.1:9/v1", "data_path=builtin"]
    more = ["num_games=2", "preflight=false", "llm.max_retries=0"]
    both = subprocess.run(
        command(*arguments, *more),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert both.returncode == 1
    assert -1 < both.stdout.find("connection failed") < both.stdout.find("AgentQuest report")


def test_an_evaluation_ends_with_what_matters_and_the_next_command(tmp_path: Path) -> None:
    arguments = ["eval", "data_path=builtin", "agent=oracle", "num_games=6", "run_name=r"]
    done = agentquest(tmp_path, *arguments)
    head, *lines = done.stdout.splitlines()
    assert head == "AgentQuest report: r"
    names = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert names == ["played", "success", "steps", "progress", "invalid", "behaviour", "ends"]
    assert len(lines) <= 8
    told = done.stderr.splitlines()[-1]
    assert told == "next: agentquest report runs/r"
    assert agentquest(tmp_path, *told.split()[2:]).returncode == 0


def test_the_model_s_address_is_named_before_it_is_asked(tmp_path: Path) -> None:
    with rule_server() as url:
        done = agentquest(tmp_path, "eval", *model_at(url), "num_games=1", "run_name=r")
        again = agentquest(tmp_path, "eval", *model_at(url), "num_games=1", "run_name=r")
    assert done.stderr.splitlines()[0] == f"asking rules at {url} …"
    assert "asking" not in again.stderr, "nothing is left to play"


def test_a_server_that_is_not_there_is_said_at_once(tmp_path: Path) -> None:
    arguments = ["eval", "model=m", "llm.base_url=http://127.0.0.1:9/v1", "data_path=builtin"]
    done = agentquest(tmp_path, *arguments)
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]
    assert said.startswith("agentquest: no server at http://127.0.0.1:9/v1; is it running")
    assert not (tmp_path / "runs").exists()


def test_debug_shows_every_prompt_and_raw_reply_also_in_parallel(tmp_path: Path) -> None:
    done = agentquest(
        tmp_path,
        "eval",
        "data_path=builtin",
        "num_games=3",
        "max_steps=4",
        "parallel=3",
        "debug=true",
        "run_name=r",
    )
    assert done.returncode == 0, done.stderr
    records = RunFolder(tmp_path / "runs" / "r").records()
    steps = [(record, step) for record in records for step in record.steps]
    blocks = done.stderr.split("─" * 72)[1:]
    assert len(blocks) == len(steps)
    for record, step in steps:
        # A step is printed in one piece, whatever else goes on.
        assert any(
            record.prompt(step)[1].content in block
            and f"── raw reply\n{step.reply}\n" in block
            and f"── observation\n{step.observation}\n" in block
            for block in blocks
        )
    log = (tmp_path / "runs" / "r" / "run.log").read_text(encoding="utf-8")
    assert log.count(" step ") == len(steps)


def test_a_dry_run_is_refused_where_the_run_would_be(tmp_path: Path) -> None:
    arguments = ["eval", "benchmark=mastermind", "agent=random", "num_games=1", "run_name=r"]
    assert agentquest(tmp_path, *arguments).returncode == 0
    assert agentquest(tmp_path, *arguments, "--dry-run").returncode == 0
    tried = agentquest(tmp_path, *arguments, "max_steps=3", "--dry-run")
    assert tried.returncode == 2
    assert "max_steps: was 50, is 3" in tried.stderr


def test_init_writes_a_configuration_that_runs(tmp_path: Path) -> None:
    made = agentquest(tmp_path, "init")
    assert made.returncode == 0
    assert "wrote run.yaml" in made.stdout
    assert agentquest(tmp_path, "init").returncode == 2
    assert agentquest(tmp_path, "init", "--force").returncode == 0
    tried = agentquest(tmp_path, "eval", "-c", "run.yaml", "data_path=builtin", "--dry-run")
    assert tried.returncode == 0
    assert "134 episodes, run directory runs/" in tried.stdout
    assert not (tmp_path / "runs").exists()


def test_edited_code_is_named_and_fresh_starts_anew(tmp_path: Path) -> None:
    """The same command after an edit: refused with the file, continued, or a new run."""
    code = "from agentquest.lib import Agent, Answer\nclass Mine(Agent):\n"
    code += "    async def act(self, observation):\n        return Answer('look')\n"
    (tmp_path / "own.py").write_text(code)
    arguments = ["eval", "agent=own:Mine", "data_path=builtin", "num_games=1", "max_steps=2"]
    arguments.append("run_name=mine")
    assert agentquest(tmp_path, *arguments).returncode == 0
    (tmp_path / "own.py").write_text(code.replace("'look'", "'inventory'"))
    refused = agentquest(tmp_path, *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "own.py changed since mine began" in refused.stderr
    for option, is_said in (("warn", True), ("ignore", False)):
        resumed = agentquest(tmp_path, *arguments, "--resume", option)
        assert resumed.returncode == 0
        assert ("own.py changed since mine began" in resumed.stderr) == is_said
    fresh = agentquest(tmp_path, *arguments, "--fresh")
    assert fresh.returncode == 0
    assert sorted(folder.name for folder in (tmp_path / "runs").iterdir()) == ["mine", "mine-2"]


def test_without_a_model_it_is_said_that_rules_answer(tmp_path: Path) -> None:
    arguments = ["eval", "data_path=builtin", "num_games=1", "run_name=r"]
    done = agentquest(tmp_path, *arguments)
    first, second, *_ = done.stderr.splitlines()
    assert first.startswith("note: no model is configured (llm.model): the scripted one answers")
    assert second.startswith("note: the data is built-in")
    assert max(len(first), len(second)) < 80
    said = "scripted (built-in rules, no language model)"
    assert said in " ".join(done.stdout.split())
    report = " ".join(agentquest(tmp_path, "report", "runs/r").stdout.split())
    assert said in report
    assert "builtin (made by AgentQuest, not the benchmark's own)" in report
    silent = agentquest(tmp_path, *arguments[:-1], "agent=oracle")
    assert "no model" not in silent.stderr
    named = agentquest(tmp_path, *arguments[:-1], "model=scripted", "run_name=named")
    assert "asking" not in named.stderr, "rules are at no address"


def test_after_a_cost_limit_the_hint_is_to_raise_it(tmp_path: Path) -> None:
    """The same command would stop at once, for ever."""
    with rule_server() as url:
        prices = ["llm.price_per_million_prompt=1000", "llm.price_per_million_completion=1000"]
        arguments = ["eval", *model_at(url), *prices, "num_games=3", "run_name=r", "parallel=1"]
        for _ in range(2):
            stopped = agentquest(tmp_path, *arguments, "cost_limit=0.5")
            assert stopped.returncode == 1
            assert "episodes still to play; raise cost_limit" in stopped.stderr
            assert "run the same command again" not in stopped.stderr + stopped.stdout
        assert agentquest(tmp_path, *arguments, "cost_limit=5000").returncode == 0


def test_a_price_that_comes_later_is_in_the_results(tmp_path: Path) -> None:
    with rule_server() as url:
        arguments = ["eval", *model_at(url), "num_games=1", "run_name=r"]
        prices = ["llm.price_per_million_prompt=1000", "llm.price_per_million_completion=1000"]
        costs = []
        for more in ([], prices):
            assert agentquest(tmp_path, *arguments, *more).returncode == 0
            results = json.loads((tmp_path / "runs/r/results.json").read_text(encoding="utf-8"))
            costs.append(results["summary"]["spent"]["cost"])
    assert costs[0] is None
    assert costs[1] > 0
