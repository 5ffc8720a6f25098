"""Steps are visible while an episode is under way: `live.jsonl`, and the lines on a terminal."""

import re
import time
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from evaluator_runs import (
    PATIENCE_S,
    agentquest,
    evaluate,
    lines_in,
    model_at,
    rule_server,
    scored_keys,
    started,
    wait_until,
)
from rich.console import Console

from agentquest.cli import live as live_view
from agentquest.cli.live import LiveView, Playing, Tally
from agentquest.llms.status import Status
from agentquest.store import live
from agentquest.store.folder import EPISODES, RunFolder
from agentquest.store.live import LIVE, read_live
from report_runs import record as made_record


def test_steps_of_unfinished_episodes_can_be_followed_from_another_process(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.3") as url:
        arguments = ["eval", *model_at(url), "num_games=2", "parallel=2", "run_name=r"]
        with started(tmp_path, *arguments) as process:
            wait_until(lambda: any(e.step for e in read_live(run)[0]), "a first step")
            assert lines_in(run) == 0, "no episode is finished yet"
            events, offset = read_live(run)
            wait_until(lambda: read_live(run, offset)[1] > offset, "further steps")
            further, _ = read_live(run, offset)
            assert further
            assert events + further == read_live(run)[0][: len(events + further)]
            process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 0
    events, _ = read_live(run)
    records = {record.key: record for record in RunFolder(run).records()}
    assert len(records) == 2
    for key, record in records.items():
        of_it = [event for event in events if event.key == key]
        assert [event.event for event in of_it] == ["start", *["step"] * len(record.steps), "end"]
        assert [e.step.action for e in of_it if e.step] == [s.action for s in record.steps]
        assert (of_it[-1].end, of_it[-1].success) == (record.end, record.success)


async def test_the_file_stops_growing_and_each_part_of_a_run_begins_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "_MOST_BYTES", 20_000)
    monkeypatch.setattr(live, "_FLUSH_BYTES", 2_000)
    arguments = ["agent=random", "max_steps=40", "run_name=r"]
    run, _ = await evaluate(tmp_path, *arguments, "num_games=12", "trials=1")
    size = (run.directory.path / LIVE).stat().st_size
    assert 15_000 < size <= 20_000
    assert len(scored_keys(run.directory.path)) == 12
    file = run.directory.path / "episodes.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-1]))
    await evaluate(tmp_path, *arguments, "num_games=12", "trials=1")
    keys = {event.key for event in read_live(run.directory.path)[0]}
    assert len(keys) == 1


async def test_a_file_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    arguments = ["agent=oracle", "num_games=2", "run_name=r"]
    await evaluate(tmp_path, *arguments)
    (tmp_path / "r" / EPISODES).unlink()
    (tmp_path / "r" / LIVE).unlink()
    (tmp_path / "r" / LIVE).mkdir()
    run, reason = await evaluate(tmp_path, *arguments)
    assert (reason, run.pending, len(run.rows)) == (None, [], 2)


def test_plain_lines_come_by_the_clock_and_name_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live_view, "_LINE_EVERY_S", 0.01)
    tally = Tally(total=10, won=3, scored=4)
    tally.active = {
        key: Playing(f"process-{number}") for key, number in (("a", 1), ("b", 2), ("c", 1))
    }
    said = ""
    with LiveView(tally, tmp_path / "run.log", debug=False):
        # No episode begins or ends meanwhile.
        for _ in range(500):
            said += capfd.readouterr().err
            if said.count("4/10 episodes") >= 3:
                break
            time.sleep(0.02)
    assert said.count("4/10 episodes") >= 3
    # Six games are left: no interval of the four that ended, but what they can still come to.
    assert "3 solved · 1 not solved · 3 playing" in said
    assert "3 waiting · success will be 30.0–90.0%" in said
    assert "3 playing (process-1: 2, process-2: 1)" in said


def test_the_slowest_episodes_of_a_frame_are_labelled(tmp_path: Path) -> None:
    tally = Tally(total=4, active={key: Playing(goal=f"find {key}") for key in "abcde"})
    with LiveView(tally, tmp_path / "run.log", debug=False) as view:
        frame = view._render()
    text = StringIO()
    Console(width=100, file=text).print(frame)
    assert [line.split(": ")[0].strip() for line in text.getvalue().splitlines()[-3:]] == [
        "slowest 0:00 at step 1",
        "0:00 at step 1",
        "0:00 at step 1",
    ]


def test_a_frame_has_the_same_count_everywhere(tmp_path: Path) -> None:
    spec: Any = SimpleNamespace(key="a")
    with LiveView(Tally(total=20, won=3, scored=3), tmp_path / "run.log", debug=False) as view:
        frame = view._render()
        view.finished(spec, made_record("a"))
        later = view._render()
    for drawn, number in ((frame, 3), (later, 4)):
        text = StringIO()
        Console(width=100, file=text).print(drawn)
        said = text.getvalue()
        assert f"{number}/20" in said
        assert f"{number} solved" in said


def test_many_workers_are_shown_by_their_nodes() -> None:
    tally = Tally(total=20, won=0, scored=0)
    tally.active = {str(n): Playing(f"ray-{n}@{'left' if n % 3 else 'right'}") for n in range(9)}
    assert "9 playing (left: 6, right: 3)" in tally.line()
    tally.active = dict(list(tally.active.items())[:2])
    assert "2 playing (ray-0@right: 1, ray-1@left: 1)" in tally.line()


def test_a_resumed_run_s_figures_begin_where_it_is(tmp_path: Path) -> None:
    arguments = ["eval", "data_path=builtin", "num_games=6", "agent=oracle", "run_name=r"]
    assert agentquest(tmp_path, *arguments).returncode == 0
    file = tmp_path / "runs" / "r" / "episodes.jsonl"
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:4]))
    again = agentquest(tmp_path, *arguments)
    assert again.returncode == 0
    last = [line for line in again.stderr.splitlines() if " episodes · " in line][-1]
    assert re.match(r"6/6 episodes · success 100.0% \(6/6\)", last)


def test_a_line_says_what_calls_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live_view, "_LINE_EVERY_S", 3600.0)
    with LiveView(Tally(10, 0, 0), tmp_path / "run.log", debug=False) as view:
        view.playing(lambda: Status(in_flight=3, oldest_s=61.0).line)
        view._say()
        view.playing(
            lambda: Status(held_s=7.0, held_by="HTTP 429: slow down", last_error="HTTP 500").line
        )
        view.noted("the server reports no token counts")
    said = capfd.readouterr().err
    for line in (
        "3 requests open, the oldest for 61 s",
        "rate limited, on hold for 7 s: HTTP 429: slow down",
        "the server reports no token counts",
    ):
        assert line in said
        assert line in (tmp_path / "run.log").read_text(encoding="utf-8")


def test_times_and_costs_are_named_and_projected() -> None:
    tally = Tally(total=10, won=2, scored=4, cost=0.5, scored_cost=0.4)
    assert "left" not in tally.line(), "nothing was scored in this part of the run"
    tally.scored += 2
    tally._since -= 3720.0
    line = tally.line()
    assert "cost 0.5000 (about 0.7667 for all)" in line
    assert "elapsed 1:02:00, about 2:04:00 left" in line


def test_an_episode_without_a_score_is_no_progress(tmp_path: Path) -> None:
    run = ["eval", "agent=command", 'agent.command=["false"]', "num_games=2", "run_name=r"]
    done = agentquest(tmp_path, *run, "data_path=builtin")
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if " episodes · " in line]
    assert line.startswith("0/2 episodes · ")
    assert "2 without a score (agent crashed or did not answer)" in line


def test_the_slowest_episodes_are_named_by_goal_and_step() -> None:
    tally = Tally(total=10)
    tally.active = {
        "new": Playing(goal="cool some apple"),
        "old": Playing("process-1", "put a hot apple in fridge", steps=22),
    }
    tally.active["old"].since -= 125.0
    assert tally.slowest(1) == ["2:05 at step 23 on process-1: put a hot apple in fridge"]
    assert [line[:4] for line in tally.slowest(3)] == ["2:05", "0:00"]


def test_every_executor_tells_the_goal(tmp_path: Path) -> None:
    run = ["eval", "agent=oracle", "num_games=2", "data_path=builtin", "debug=true"]
    for executor in ("local", "processes"):
        told = agentquest(tmp_path, *run, f"executor={executor}", f"run_name={executor}")
        log = (tmp_path / "runs" / executor / "run.log").read_text(encoding="utf-8")
        assert told.returncode == 0
        assert len(re.findall(r"DEBUG \S+ is to .+", log)) == 2


def test_retries_leave_lines_in_the_log_and_a_row_in_the_report(tmp_path: Path) -> None:
    with rule_server("--fault", "500=0.3") as url:
        arguments = ["eval", *model_at(url), "num_games=2", "run_name=r", "llm.wait_interval=0.01"]
        assert agentquest(tmp_path, *arguments, "preflight=false").returncode == 0
    log = (tmp_path / "runs" / "r" / "run.log").read_text(encoding="utf-8")
    assert re.search(r"WARNING \S+ step \d+: answered after 1 retry", log)
    assert re.search(r"INFO attempt 1 failed: HTTP 5\d\d", log)
    report = agentquest(tmp_path, "report", "runs/r").stdout
    retries = log.count("answered after 1 retry")
    assert re.search(rf"^  retries +{retries} ", report, re.MULTILINE)


def test_debug_prints_a_system_prompt_once(tmp_path: Path) -> None:
    arguments = ["eval", "agent=react", "num_games=1", "data_path=builtin", "debug=true"]
    told = agentquest(tmp_path, *arguments).stderr
    steps = told.count("── raw reply")
    assert steps > 1
    assert told.count("── prompt (system)\n") == 1
    assert told.count("── prompt (system): as above") == steps - 1


def test_a_run_in_use_is_refused_before_its_model_is_asked(tmp_path: Path) -> None:
    with rule_server("--latency", "0.3") as url:
        arguments = ["eval", *model_at(url), "num_games=2", "run_name=r"]
        with started(tmp_path, *arguments):
            wait_until(lambda: any(e.step for e in read_live(tmp_path / "runs" / "r")[0]), "a step")
            second = agentquest(tmp_path, *arguments)
    assert second.returncode == 2
    (line,) = second.stderr.splitlines()
    assert "in use by another process" in line
