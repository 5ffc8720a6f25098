"""People play in the browser's addresses: over HTTP, with the real recorder, on every benchmark."""

import re
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener, urlopen

import pytest
from viewer_process import get, viewing

from agentquest import evaluate
from agentquest.people.recorder import GameRecorder
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.factory import make_benchmark
from agentquest.store.folder import RunFolder
from agentquest.viewer.replay import command_of, open_game, pictures_of

pytest.importorskip("starlette", reason="the viewer needs the extra `serve`")
BENCHMARKS = ("alfworld", "webshop", "mastermind", "sudoku")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each benchmark, by an agent that slips."""
    folder = tmp_path_factory.mktemp("runs")
    for name in BENCHMARKS:
        given = {"data_path": "builtin"} if name in ("alfworld", "webshop") else {}
        evaluate(benchmark=name, agent="clumsy", num_games=2, output_dir=str(folder),
                 run_name=name, max_steps=100, **given)  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    with viewing(folder) as address:
        yield address


def post(url: str, fields: dict[str, str], **headers: str) -> tuple[int, str, str]:
    """The answer's status, its page, and where it led to."""
    request = Request(url, data=urlencode(fields).encode(), headers=headers)
    try:
        with urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode(), answer.geturl()
    except HTTPError as error:
        return error.code, error.read().decode(), url


def token_in(text: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', text)
    assert found is not None
    return found[1]


def turn_in(text: str) -> str:
    found = re.search(r'name="turn" value="(\d+)"', text)
    assert found is not None
    return found[1]


def do(address: str, text: str, command: str) -> str:
    """The game's page after a command."""
    fields = {"token": token_in(text), "turn": turn_in(text), "command": command}
    status, text, led = post(address, fields)
    assert status == 200
    assert led == address
    return text


@pytest.mark.parametrize("name", BENCHMARKS)
def test_play_on_from_a_step_ends_recorded(site: str, folder: Path, name: str) -> None:
    run = RunFolder(folder / name)
    record = run.records()[0]
    step = min(2, len(record.steps) - 1)
    query = {"run": name, "episode": record.key, "step": str(step)}
    status, text, _ = get(f"{site}/play-on?{urlencode(query)}")
    assert status == 200
    status, text, address = post(f"{site}/play-on", {**query, "token": token_in(text)})
    assert status == 200
    assert "/game/" in address
    benchmark, driver = open_game(record, run.manifest())
    driver.reset()
    inherited = 0
    for one in record.steps[:step]:
        command = command_of(one, driver)
        if command is not None:
            driver.step(driver.action_class(value=command))
            inherited += 1
    oracle = benchmark.oracle(driver)
    assert oracle is not None
    plan = oracle.plan()
    for command in plan:
        text = do(address, text, command)
    assert "the recorded episode" in text
    (played,) = RunFolder(folder / f"played-on-{name}").records()
    assert played.agent == "human"
    assert played.success
    assert [one.action for one in played.steps[inherited:]] == plan
    assert {one.how for one in played.steps[:inherited]} <= {"inherited"}
    assert played.facts["played on from"] == f"{name} {record.key}, step {step}"
    assert played.data_hash == record.data_hash
    query = {"run": f"played-on-{name}", "episode": played.key}
    assert get(f"{site}/episode?{urlencode(query)}")[0] == 200


def test_a_game_is_played_left_and_summarised_beside_agents(site: str, folder: Path) -> None:
    record = RunFolder(folder / "alfworld").records()[0]
    _, text, _ = get(f"{site}/play")
    for title in ("ALFWorld", "WebShop", "Mastermind", "Sudoku"):
        assert f"<h2>{title}</h2>" in text
    fields = {"token": token_in(text), "benchmark": "mastermind", "split": "test", "type": ""}
    _, text, address = post(f"{site}/play", fields)
    text = do(address, text, "hint")
    hint = re.search(r"Hint: ([^<]+)<", text)
    assert hint is not None
    text = do(address, text, "nonsense")
    text = do(address, text, "undo")
    assert turn_in(text) == "0"
    text = do(address, text, unescape(hint[1]))
    assert "solved" in text
    _, text, _ = get(f"{site}/play")
    fields = {**fields, "benchmark": "alfworld", "split": "", "task": record.task_id}
    _, text, address = post(f"{site}/play", {**fields, "token": token_in(text)})
    assert record.goal in unescape(text)
    text = do(address, text, "look")
    text = do(address, text, "quit")
    assert "unfinished" in text
    games = [
        one
        for run in folder.iterdir()
        if run.name not in BENCHMARKS and not run.name.startswith("played-on")
        for one in RunFolder(run).records()
    ]
    ends = {one.benchmark: (one.end, one.facts.get("hints")) for one in games}
    assert ends == {"mastermind": (End.SOLVED, "1"), "alfworld": (End.CANCELLED, None)}
    _, people, _ = get(f"{site}/people")
    assert people.count("people, with help") == 1
    beside = people.partition("<h2>ALFWorld")[2].partition("<h2>")[0]
    assert beside.count(">people<") == 1
    assert beside.count(">clumsy<") == 1
    for word in ("Mastermind", "ALFWorld", "people, with help", "people"):
        assert word in people


def test_games_under_way_are_recorded_when_the_viewer_stops(tmp_path: Path) -> None:
    with viewing(tmp_path) as address:
        _, text, _ = get(f"{address}/play")
        fields = {"token": token_in(text), "benchmark": "sudoku"}
        _, text, game = post(f"{address}/play", fields)
        do(game, text, "not a move")
    (run,) = tmp_path.glob("sudoku-*")
    (record,) = RunFolder(run).records()
    assert record.end is End.CANCELLED
    assert [step.action for step in record.steps] == ["not a move"]


def test_a_site_that_nobody_has_used_makes_no_table_of_people(tmp_path: Path) -> None:
    with GameRecorder(make_benchmark("sudoku"), {}, tmp_path), viewing(tmp_path) as address:
        assert "Nobody has played here yet." in get(f"{address}/people")[1]


def test_only_our_own_forms_change_anything(site: str) -> None:
    _, text, _ = get(f"{site}/play")
    token = token_in(text)
    fields = {"benchmark": "mastermind", "token": token}
    assert post(f"{site}/play", {**fields, "token": "guessed"})[0] == 403
    assert post(f"{site}/play", {"benchmark": "mastermind"})[0] == 403
    assert post(f"{site}/play", fields, Origin="http://evil.example")[0] == 403
    assert post(f"{site}/play", fields, Host="evil.example")[0] == 403
    assert post(f"{site}/play", {**fields, "benchmark": "os:system"})[0] == 404
    assert post(f"{site}/game/nothing", {"token": token, "command": "look"})[0] == 404
    assert post(f"{site}/", fields)[0] == 405
    status, text, address = post(f"{site}/play", fields)
    assert status == 200
    stale = {"token": token, "turn": "7", "command": "1 2 3 4"}
    _, text, _ = post(address, stale)
    assert "out of date" in text
    assert turn_in(text) == "0"


def test_another_host_asks_for_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AGENTQUEST_TOKEN", raising=False)
    command = [sys.executable, "-m", "agentquest", "view", str(tmp_path), "--port", "0"]
    refused = subprocess.run([*command, "--host", "0.0.0.0"], capture_output=True, timeout=60)
    assert refused.returncode != 0
    assert b"AGENTQUEST_TOKEN" in refused.stderr
    monkeypatch.setenv("AGENTQUEST_TOKEN", "open-sesame")
    with viewing(tmp_path) as address:
        assert get(f"{address}/")[0] == 401
        assert get(f"{address}/enter")[0] == 200
        assert get(f"{address}/", Authorization="Bearer open-sesame")[0] == 200
        for token, status in (("wrong", 401), ("open-sesame", 200)):
            cookie = _entered(address, token)
            assert "HttpOnly" in cookie
            assert "SameSite=strict" in cookie
            sent = cookie.partition(";")[0]
            for cookies in (sent, f"of[another]=program; {sent}"):
                assert get(f"{address}/", Cookie=cookies)[0] == status


def _entered(address: str, token: str) -> str:
    class Stay(HTTPRedirectHandler):
        def redirect_request(self, *args: object) -> None:
            return None

    request = Request(f"{address}/enter", data=urlencode({"token": token}).encode())
    with pytest.raises(HTTPError) as led:
        build_opener(Stay).open(request, timeout=60)
    assert led.value.code == 303
    return str(led.value.headers["set-cookie"])


def first_win(folder: Path, name: str) -> EpisodeRecord:
    return RunFolder(folder / name).records()[0]


def test_the_map_of_a_home_is_drawn_from_the_transcript(folder: Path) -> None:
    record = first_win(folder, "alfworld")
    maps = pictures_of(record)
    assert len(maps) == len(record.steps) + 1
    assert "place unseen" in maps[0]
    assert "nothing in hand" in maps[0]
    for step, drawn in zip(record.steps, maps[1:], strict=True):
        if step.valid and step.action and step.action.startswith("take "):
            thing = step.action.removeprefix("take ").partition(" from ")[0]
            assert re.search(rf"<b>{thing}[^<]* in hand</b>", drawn)
        if step.valid and step.action and step.action.startswith("go to "):
            place = step.action.removeprefix("go to ")
            assert re.search(rf'here"><b>{place}</b>', drawn)
    assert set(pictures_of(first_win(folder, "mastermind"))) == {""}


def test_a_benchmark_that_is_not_installed_has_no_pictures(folder: Path) -> None:
    record = first_win(folder, "alfworld")
    unknown = record.model_copy(update={"benchmark": "somebody's"})
    assert pictures_of(unknown) == [""] * (len(record.steps) + 1)


def test_a_shop_is_drawn_as_a_person_sees_it(folder: Path) -> None:
    record = first_win(folder, "webshop")
    pages = pictures_of(record)
    assert len(pages) == len(record.steps) + 1
    assert 'class="search"' in pages[0]
    assert "[SEP]" not in "".join(pages)
    results = next(page for page in pages if 'class="product"' in page)
    assert results.count('class="product"') == 10
    clicked = [
        (step.action or "", page)
        for step, page in zip(record.steps, pages, strict=False)
        if step.valid and (step.action or "").startswith("click[")
    ]
    assert clicked
    for action, page in clicked:
        assert page.count(" chosen") == 1, action
