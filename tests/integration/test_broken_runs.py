"""A record, run or page that fails costs only itself, in every command and in the viewer."""

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from agentquest.cli.app import main
from agentquest.errors import DataError
from agentquest.metrics.rows import EpisodeRow, row_of
from agentquest.metrics.summary import RunFigures
from agentquest.records.episode import Call, EpisodeRecord
from agentquest.records.messages import Usage
from agentquest.reports.exports import FORMATS
from agentquest.reports.sweep import sweep_comparison, sweep_rows
from agentquest.store.folder import EPISODES, MANIFEST, METRICS
from agentquest.store.index import INDEX
from agentquest.store.library import BrokenRun, Library, SweptRun
from agentquest.store.lines import read_checksum, seal, unseal
from agentquest.store.live import LIVE
from agentquest.store.search import TextIndex
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved, step

pytest.importorskip("starlette", reason="the viewer needs the extra `serve`")
TASKS = ["a", "b", "c"]


def _expensive(cost: float, tokens: int = 1) -> EpisodeRecord:
    """As a foreign record may say it, which our own reading of replies does not let in."""
    usage = Usage.model_construct(prompt_tokens=tokens, completion_tokens=1)
    call = Call.model_construct(model="m", kind="complete", usage=usage, cost=cost)
    return record("a", steps=[step(1).model_copy(update={"calls": [call, call]})])


def _costs(run: Path) -> None:
    _first_record(run, _expensive(1.7e308))


def _many_tokens(run: Path) -> None:
    _first_record(run, _expensive(0.1, 10**400))


def _rewards(run: Path) -> None:
    much = {"reward": 1.7e308, "progress": 1.7e308}
    huge = [record(task).model_copy(update=much) for task in "ab"]
    lines = (run / EPISODES).read_bytes().splitlines(keepends=True)
    written = [seal(one.model_dump_json().encode()) for one in huge]
    (run / EPISODES).write_bytes(b"".join([*written, lines[2]]))


def _first_record(run: Path, content: EpisodeRecord) -> None:
    lines = (run / EPISODES).read_bytes().splitlines(keepends=True)
    lines[0] = seal(content.model_dump_json(warnings=False).encode())
    (run / EPISODES).write_bytes(b"".join(lines))


def _strange_task(run: Path) -> None:
    strange = record("a", benchmark="mastermind", problem="test/4-digits/xyz", split="test")
    _first_record(run, strange.model_copy(update={"task_type": "4 digits"}))


def _strange_prompt(run: Path) -> None:
    strange = {"steps": [step(1, prompt=[7, -9])]}
    _first_record(run, record("a").model_copy(update=strange))


def _forged_index(run: Path) -> None:
    StoredRun(run).save_figures([])
    head, *lines = (run / INDEX).read_bytes().splitlines(keepends=True)
    forged = [head]
    for line in lines:
        entry = json.loads(unseal(line) or b"")
        if "spent" in entry:
            entry["spent"] = ["much"] * len(entry["spent"])
            entry["values"] = ["high"] * len(entry["values"])
        forged.append(seal(json.dumps(entry).encode()))
    (run / INDEX).write_bytes(b"".join(forged))


def _no_records(run: Path) -> None:
    """Lines that an index of the same sender calls records."""
    StoredRun(run).save_figures([])
    head, *lines = (run / INDEX).read_bytes().splitlines(keepends=True)
    contents = iter(
        [b"[]", b'{"first_observation": 5, "steps": []}', b'{"steps": [{"action": 5}]}']
    )
    forged, episodes = [head], b""
    for line in lines:
        entry = json.loads(unseal(line) or b"")
        if "row" in entry:
            sealed = seal(next(contents))
            entry |= {"at": len(episodes), "next": len(episodes) + len(sealed)}
            entry["crc"] = read_checksum(sealed)
            episodes += sealed
            forged.append(seal(json.dumps(entry).encode()))
    (run / INDEX).write_bytes(b"".join(forged))
    (run / EPISODES).write_bytes(episodes)


def _wrong_manifest(run: Path) -> None:
    content = json.loads((run / MANIFEST).read_bytes())
    (run / MANIFEST).write_text(json.dumps({**content, "trials": 10**400}))


def _other_sections(run: Path) -> None:
    content = json.loads((run / MANIFEST).read_bytes())
    config = dict.fromkeys(("llm", "agent", "benchmark_settings", "cost_limit"), "x")
    (run / MANIFEST).write_text(json.dumps({**content, "config": config}))


def _torn_measurements(run: Path) -> None:
    content = json.loads((run / MANIFEST).read_bytes())
    (run / MANIFEST).write_text(json.dumps({**content, "metrics": ["mine:METRIC"]}))
    Library(run.parent).summaries()  # keeps its figures, which are still right
    (run / METRICS).write_text("{")


def _deep_live(run: Path) -> None:
    (run / LIVE).write_text("[" * 100_000 + "\n")


HARM: dict[str, Callable[[Path], None]] = {
    "costs that overflow": _costs,
    "more tokens than a number can be": _many_tokens,
    "rewards that overflow": _rewards,
    "the name of a task that cannot be": _strange_task,
    "prompts that are not there": _strange_prompt,
    "an index that somebody made": _forged_index,
    "a manifest beyond all bounds": _wrong_manifest,
    "a configuration of another form": _other_sections,
    "values of its own metrics that cannot be read": _torn_measurements,
    "a deep live file": _deep_live,
}


@pytest.fixture(params=HARM)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Two runs, and one that is harmful."""
    about = manifest(task_ids=TASKS)
    for name in ("first", "second", "harmful"):
        saved(tmp_path / "runs" / name, [record(task) for task in TASKS], about)
    HARM[request.param](tmp_path / "runs" / "harmful")
    return tmp_path / "runs"


def _run(*words: str) -> int:
    try:
        main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    return 0


def test_no_command_fails_for_the_others(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert _run("runs", str(folder)) == 0
    said = capsys.readouterr()
    assert "first" in said.out
    assert "second" in said.out
    assert "harmful" in said.out + said.err
    assert _run("runs", str(folder), "--json") == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)} >= {"first", "second"}
    assert _run("view", str(folder), "--export", str(tmp_path / "pages")) == 0
    pages = [file.read_text() for file in (tmp_path / "pages").rglob("*.html")]
    assert sum("<h1>put some book on sidetable</h1>" in page for page in pages) >= 6
    for run in ("harmful", "first"):
        html = str(tmp_path / f"html-{run}")
        for words in (["report", str(folder / run)], ["report", str(folder / run), "-f", "html"]):
            assert _run(*words, *(["-o", html] if "html" in words else [])) in (0, 2)
        for name in FORMATS.keys() - {"parquet"}:
            assert _run("export", str(folder / run), "--to", name, "-o", html) in (0, 2)
    with contextlib.suppress(DataError):  # of nothing else
        StoredRun(folder / "harmful").save_results()
    capsys.readouterr()
    names = [str(folder / name) for name in ("first", "harmful", "second")]
    assert _run("compare", *names) in (0, 1)
    assert "second" in capsys.readouterr().out
    assert _run("compare", *names, "--baseline", "3") in (0, 1)
    assert _run("compare", *names, "--baseline", "4") == 2
    assert _run("compare", names[1], names[0]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_no_page_fails_for_the_others(folder: Path) -> None:
    from starlette.testclient import TestClient

    from agentquest.viewer.app import Viewer, viewer_app

    app = viewer_app(Viewer(Library(folder)))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        for address in ("/", "/state", "/leaderboard", "/people", "/run/first", "/run/second"):
            answer = client.get(address)
            assert answer.status_code == 200, address
            assert address != "/" or all(name in answer.text for name in ("first", "harmful"))
        for key in ("a#0", "b#0"):
            where = urlencode({"run": "harmful", "episode": key, "step": 1})
            for address in ("/episode", "/prompt"):
                assert client.get(f"{address}?{where}").status_code in (200, 404)
        assert client.get("/live/harmful").status_code in (200, 404)
        assert client.get("/run/harmful").status_code in (200, 404)
        assert client.get("/run/harmful?text=book").status_code in (200, 404)
        assert client.get("/compare?run=first&run=harmful").status_code in (200, 404)
        assert client.get("/compare?run=first&run=second").status_code == 200


def test_a_search_passes_over_lines_that_are_no_records(tmp_path: Path) -> None:
    saved(tmp_path / "run", [record(task) for task in TASKS], manifest(task_ids=TASKS))
    _no_records(tmp_path / "run")
    run = StoredRun(tmp_path / "run")
    spans = [run.span(row.key) for row in run.rows]
    assert len(spans) == 3
    assert TextIndex(run.episodes).find("book", spans).steps == {}
    with pytest.raises(DataError, match=r"episodes\.jsonl cannot be read: "):
        run.save_results()


@pytest.mark.parametrize("address", ["/", "/state", "/live/first", "/run/first?text=book"])
def test_what_nobody_thought_of_costs_one_page(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from starlette.testclient import TestClient

    from agentquest.viewer.app import Viewer, viewer_app

    saved(tmp_path / "first", [record("a")], manifest(task_ids=["a"]))

    def fail(*_: Any) -> None:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(Library, "names", fail)
    monkeypatch.setattr(StoredRun, "live", fail)
    monkeypatch.setattr(TextIndex, "find", fail)
    app = viewer_app(Viewer(Library(tmp_path)))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        answer = client.get(address)
        assert answer.status_code == 404
        assert "RuntimeError: nobody thought of this" in answer.text
        assert client.get("/run/first").status_code == 200


def test_a_sweep_names_the_run_that_cannot_be_read(tmp_path: Path) -> None:
    about = manifest(task_ids=TASKS)
    for name in ("one", "two", "three"):
        saved(tmp_path / name, [record(task) for task in TASKS], about)
    (tmp_path / "two" / MANIFEST).write_text("{")
    swept = [SweptRun(name, None, None, 1, tmp_path / name) for name in ("one", "two", "three")]
    assert [row.setting[0] for row in sweep_rows(swept)] == ["one", "three"]
    comparisons, problems = sweep_comparison(swept)
    assert [one.other for one in comparisons] == ["three"]
    assert len(problems) == 1
    assert problems[0].startswith("two cannot be read: ")


def test_bytes_put_between_the_lines_are_noticed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    saved(run, [record(task) for task in TASKS], manifest(task_ids=TASKS))
    assert len(StoredRun(run, verify=True).rows) == 3
    content = (run / EPISODES).read_bytes()
    ends = [place for place, byte in enumerate(content) if byte == 10]
    for place in (0, 40, ends[0] + 1, ends[1] - 30, ends[1] + 1):
        shutil.copytree(run, tmp_path / f"copy-{place}")
        copy = tmp_path / f"copy-{place}"
        (copy / EPISODES).write_bytes(content[:place] + b"x\ny" + content[place:])
        for verify in (True, False):
            stored = StoredRun(copy, verify=verify)
            assert "damaged" in stored.damage
            assert 1 <= len(stored.rows) <= 2
            assert [one.key for one in stored.records] == [one.key for one in stored.rows]


def test_what_nobody_thought_of_costs_one_record_or_one_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = manifest(task_ids=TASKS)
    for name in ("first", "second"):
        saved(tmp_path / name, [record(task) for task in TASKS], about)
    run, key = tmp_path / "first", record("b").key

    def add_up(one: EpisodeRecord, *given: Any) -> EpisodeRow:
        return 1 / 0 if one.key == key else row_of(one, *given)

    with monkeypatch.context() as patch:
        patch.setattr("agentquest.store.index.row_of", add_up)
        read = StoredRun(run)
        assert [row.task_id for row in read.rows] == ["a", "c"]
        assert f"{key}: ZeroDivisionError: " in read.damage
    read_figures = StoredRun.figures.fget

    def compute(one: StoredRun) -> RunFigures:
        assert read_figures is not None
        return 1 / 0 if one.path == run else read_figures(one)

    monkeypatch.setattr(StoredRun, "figures", property(compute))
    broken, sound = Library(tmp_path).summaries()
    assert isinstance(broken, BrokenRun)
    assert broken.problem == "ZeroDivisionError: division by zero"
    assert sound.name == "second"
