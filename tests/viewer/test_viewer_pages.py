"""The viewer's pages over HTTP: complete, shareable, and safe whatever a record says."""

import asyncio
import html
import json
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from viewer_process import get, make_runs, viewing

from agentquest.records.episode import EpisodeRecord
from agentquest.store.folder import EPISODES, MANIFEST, RunFolder
from agentquest.store.index import INDEX
from agentquest.store.library import Library, RunSummary
from agentquest.store.search import TextIndex
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.filters import find, search
from report_runs import hostile, hostile_manifest, saved

pytest.importorskip("starlette", reason="the viewer needs the extra `serve`")

from starlette.requests import Request

from agentquest.viewer.app import Viewer


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    folder = tmp_path_factory.mktemp("runs")
    return folder, make_runs(folder)


@pytest.fixture(scope="module")
def site(runs: tuple[Path, dict[str, str]]) -> Iterator[str]:
    with viewing(runs[0]) as address:
        yield address


def episode_of(folder: Path, name: str) -> str:
    return RunFolder(folder / name).records()[0].key


def test_the_list_shows_every_run_and_can_be_filtered(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    status, text, _ = get(f"{site}/")
    assert status == 200
    for name in runs[1].values():
        assert f">{name}</a>" in text
    _, only, _ = get(f"{site}/?agent=random")
    assert f">{runs[1]['random']}</a>" in only
    assert f">{runs[1]['scripted']}</a>" not in only


def test_a_run_has_its_figures_and_every_episode(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    _, text, _ = get(f"{site}/run/{names['scripted']}")
    for record in RunFolder(folder / names["scripted"]).records():
        assert record.goal in text
    assert text.count('class="square ') == 6
    assert "Success by task type" in text


def fitting(site: str, run: str, **query: str) -> int:
    _, text, _ = get(f"{site}/run/{run}?{urlencode(query)}")
    found = re.search(r"(\d+) of 6 episodes", text)
    assert found is not None
    return int(found[1])


def test_episodes_are_found_by_what_they_say_and_how_they_went(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    name = names["random"]
    records = RunFolder(folder / name).records()
    first = records[0]
    for query, expected in (
        ({"type": first.task_type}, [r for r in records if r.task_type == first.task_type]),
        ({"outcome": "lost"}, [r for r in records if not r.success]),
        ({"end": "step_limit"}, [r for r in records if r.end.value == "step_limit"]),
        ({"invalid": "1"}, [r for r in records if r.invalid_actions >= 1]),
        ({"repetition": "0.2"}, [r for r in records if r.repetition_rate >= 0.2]),
        ({"cost": "0.01"}, []),
        ({"text": "Nothing-Like-It"}, []),
        ({"text": "INVENTORY"}, [r for r in records if "inventory" in said(r)]),
        ({"text": first.goal}, [r for r in records if first.goal in f"{r.goal} {said(r)}"]),
        ({"sort": "most steps"}, records),
    ):
        assert fitting(site, name, **query) == len(expected), query


def said(record: EpisodeRecord) -> str:
    told = [f"{s.action} {s.observation} {s.reply} {s.reasoning}" for s in record.steps]
    return " ".join([record.first_observation, *told]).lower()


def test_a_search_for_words_stops_and_goes_on(runs: tuple[Path, dict[str, str]]) -> None:
    folder, names = runs
    run = StoredRun(folder / names["scripted"])
    query, texts = {"text": "you"}, TextIndex(run.episodes)
    part = find(run, query, search(run, query, texts, most_bytes=1)())
    assert 0 < part.searched < part.among == 6
    everything = find(run, query, search(run, query, texts)())
    assert everything.searched == 6
    assert part.rows == everything.rows[: part.searched]
    assert everything == find(run, query)
    assert all(step == 0 for step in everything.steps.values())


async def test_a_search_keeps_nobody_else_waiting(
    runs: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, names = runs
    searching, go_on = threading.Event(), threading.Event()
    original = TextIndex.find

    def find_slowly(*given: Any) -> Any:
        searching.set()
        go_on.wait(30)
        return original(*given)

    monkeypatch.setattr(TextIndex, "find", find_slowly)
    viewer = Viewer(Library(folder))
    path = {"path_params": {"name": names["scripted"]}, "query_string": b"text=drawer"}
    search_page = asyncio.create_task(viewer.run(Request({"type": "http", **path})))
    await asyncio.to_thread(searching.wait, 30)
    other = {"path_params": {}, "query_string": b""}
    home = await viewer.navigation("runs")(Request({"type": "http", **other}))
    assert home.status_code == 200
    assert not search_page.done()
    go_on.set()
    assert b"drawer" in bytes((await search_page).body)


def test_runs_can_be_grouped(site: str, runs: tuple[Path, dict[str, str]]) -> None:
    _, text, _ = get(f"{site}/?group=agent")
    headings = re.findall(r"<h2>(\w+) <small>1 run<", text)
    assert headings == sorted(runs[1])


def test_an_episode_shows_every_step_the_prompt_and_the_way_to_the_goal(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    record = RunFolder(folder / names["react"]).records()[0]
    query = urlencode({"run": names["react"], "episode": record.key, "step": 2})
    status, text, _ = get(f"{site}/episode?{query}")
    assert status == 200
    assert text.count('<section class="step"') == len(record.steps) + 1
    assert f'data-steps="{len(record.steps)}"' in text
    assert "Prompt as sent" in text
    shortest = len(record.milestones)
    assert f"The goal is {shortest} steps from here" in text
    assert "The room as the agent knows it" in text
    assert text.count("Play on from here") == len(record.steps) + 1
    sent = record.prompt(record.steps[1])
    for bare in ("", "&bare=1"):
        status, whole, _ = get(f"{site}/prompt?{query}{bare}")
        assert status == 200
        shown = html.unescape(re.sub(r"</?mark>", "", whole))
        assert all(message.content in shown for message in sent)
        marked = html.unescape(" ".join(re.findall("<mark>(.*?)</mark>", whole, re.DOTALL)))
        assert record.steps[0].observation in marked
        assert record.goal not in marked
    assert ("<html" in whole) is False


def test_the_page_of_an_episode_is_remembered_for_its_own_run_only(
    tmp_path: Path, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    run = tmp_path / "run"
    shutil.copytree(folder / names["react"], run)
    query = urlencode({"run": "run", "episode": episode_of(tmp_path, "run")})
    with viewing(tmp_path) as address:
        _, first, _ = get(f"{address}/episode?{query}")
        assert get(f"{address}/episode?{query}&step=1")[1] == first
        assert "Play on from here" in first
        # The same episode in another run, whose settings nothing here understands.
        other = json.loads((run / MANIFEST).read_text())
        other["config"]["benchmark_settings"] = {"unknown": 1}
        (run / MANIFEST).write_text(json.dumps(other))
        assert "Play on from here" not in get(f"{address}/episode?{query}")[1]


def test_two_runs_side_by_side_mark_where_they_first_differ(
    site: str, runs: tuple[Path, dict[str, str]]
) -> None:
    folder, names = runs
    first, second = (RunFolder(folder / names[agent]) for agent in ("scripted", "random"))
    task = first.records()[0].task_id
    actions = [
        next(r for r in run.records() if r.task_id == task).actions for run in (first, second)
    ]
    expected = next(i for i, (a, b) in enumerate(zip(*actions, strict=False), 1) if a != b)
    query = urlencode([("run", names["scripted"]), ("run", names["random"]), ("task", task)])
    status, text, _ = get(f"{site}/compare?{query}")
    assert status == 200
    assert f"first differ at step {expected}." in text
    assert text.count("first difference") == 1
    _, all_tasks, _ = get(f"{site}/compare?{urlencode([('run', n) for n in names.values()])}")
    assert all_tasks.count("of each task: below the line") >= 2
    assert all_tasks.count('class="task"') >= 1


def test_what_is_not_there_is_said(site: str) -> None:
    for path in (
        "/run/nothing",
        "/episode?run=x&episode=y",
        "/run/..%2F..%2Fetc",
    ):
        status, text, _ = get(f"{site}{path}")
        assert status == 404, path
        assert "<h1>Not found</h1>" in text
    assert get(f"{site}/static/../app.py")[0] == 404


def test_requests_under_another_name_are_refused(site: str) -> None:
    assert get(f"{site}/", Host="evil.example")[0] == 403


def test_the_policy_lets_nothing_else_run_or_load(site: str) -> None:
    _, text, headers = get(f"{site}/")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert " style=" not in text
    assert "<script>" not in text


def test_hostile_records_break_nothing_and_run_nothing(tmp_path: Path) -> None:
    saved(tmp_path / "hostile", hostile(), hostile_manifest())
    with viewing(tmp_path) as site:
        _, listed, _ = get(f"{site}/")
        _, run, _ = get(f"{site}/run/hostile")
        pages = [listed, run]
        for record in hostile():
            query = urlencode({"run": "hostile", "episode": record.key})
            status, text, _ = get(f"{site}/episode?{query}")
            assert status == 200
            pages.append(text)
    for text in pages:
        tags = set(re.findall(r"<([a-zA-Z!/][\w-]*)", text))
        assert not tags & {"img", "iframe", "object", "embed", "base", "style"}, tags
        assert text.count("<script") == 1
        assert not re.search(r"(?:href|src|action)\s*=\s*[\"']?\s*javascript:", text, re.IGNORECASE)
        assert "\x00" not in text
        assert "\u202e" not in text


def test_folders_that_cannot_be_read_say_what_is_wrong(tmp_path: Path) -> None:
    names = make_runs(tmp_path)
    whole = tmp_path / names["random"]
    torn = tmp_path / "torn"
    shutil.copytree(whole, torn)
    content = (torn / EPISODES).read_bytes()
    (torn / EPISODES).write_bytes(content[: len(content) // 2])
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / MANIFEST).write_text("{", encoding="utf-8")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / MANIFEST).write_text(json.dumps({"schema_version": 1}), encoding="utf-8")
    bare = tmp_path / "bare"
    bare.mkdir()
    shutil.copy(whole / EPISODES, bare)
    spoilt = tmp_path / "spoilt"
    shutil.copytree(whole, spoilt)
    (spoilt / EPISODES).write_bytes(content.replace(b"look", b"look!", 1))
    found = {run.name: run for run in Library(tmp_path).summaries()}
    torn_run = found["torn"]
    assert isinstance(torn_run, RunSummary)
    assert 0 < torn_run.figures.episodes < 6
    assert torn_run.state == "stopped"
    with viewing(tmp_path) as site:
        _, text, _ = get(f"{site}/")
    assert f">{quote(names['random'])}</a>" in text
    assert "damaged: " in text
    assert "foreign: " in text
    assert "written with schema 1" in text
    assert "bare: it has episodes but no manifest.json" in text
    assert "damaged line (" in text


def test_the_index_saves_reading_and_can_be_deleted(tmp_path: Path) -> None:
    names = make_runs(tmp_path)
    folder = tmp_path / names["scripted"]
    first = StoredRun(folder)
    assert first.rows
    assert (folder / INDEX).is_file()
    again = StoredRun(folder)
    assert again.rows == first.rows
    assert again.report.overall == first.report.overall
    assert again.record(again.rows[3].key) == first.record(first.rows[3].key)
    (folder / INDEX).write_bytes(b"nonsense\n")
    assert StoredRun(folder).rows == first.rows
    (folder / INDEX).unlink()
    assert StoredRun(folder).rows == first.rows
    seen = Library(tmp_path).summaries()
    assert Library(tmp_path).summaries() == seen
    (folder / INDEX).unlink()
    assert Library(tmp_path).summaries() == seen
    figures = next(one.figures for one in seen if one.name == folder.name)
    overall = first.report.overall.cells
    assert figures.success == overall["success"].estimate
    assert figures.steps == pytest.approx(overall["steps"].estimate.value)


def test_a_run_that_grows_is_followed(tmp_path: Path) -> None:
    names = make_runs(tmp_path)
    source = RunFolder(tmp_path / names["scripted"])
    records = source.records()
    growing = RunFolder(tmp_path / "growing")
    growing.create("", source.manifest())
    with growing.lock() as log:
        log.append(*records[:2])
        opened = StoredRun(growing.path)
        assert len(opened.rows) == 2
        log.append(*records[2:])
    opened.refresh()
    assert [one.key for one in opened.rows] == [record.key for record in records]
    assert opened.state == "complete"
