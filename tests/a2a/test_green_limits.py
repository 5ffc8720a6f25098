"""What a request cannot make a green agent do, and what it is not told."""

import json
import re
import subprocess
import sys
import threading

import pytest
from agent_processes import agentquest, clean_environment, eventually
from green_client import Green

from agentquest.a2a.launcher import AssessmentFailed


def agentbeats(url, **config):
    return json.dumps({"participants": {"agent": url}, "config": config})


@pytest.fixture(scope="module")
def own_green(tmp_path_factory):
    """A green agent that may be asked a single thing at a time."""
    logs = tmp_path_factory.mktemp("own-logs")
    options = ["--port", "0", "--log-dir", str(logs), "--data-path", "builtin"]
    with agentquest("green", *options, "--max-assessments", "1") as process:
        yield Green(process, logs)


@pytest.mark.parametrize("kind", ["benchmark", "protocol"])
@pytest.mark.parametrize(
    "path",
    ["this:Nope", "unittest.__main__:x", "agentquest.benchmarks.alfworld.benchmark:AlfWorldDriver"],
)
def test_no_module_is_imported_by_name(own_green, scripted, kind, path):
    with pytest.raises(AssessmentFailed, match=f"is not a {kind}"):
        own_green.ask(agentbeats(scripted, **{kind: path}))
    assert not any("Zen of Python" in line for line in own_green.process.lines)
    assert own_green.assess(scripted).data["wins"] == 1


@pytest.mark.parametrize(
    "config",
    [
        {"train_eval": "../../etc"},
        {"task_types": ["../x"]},
        {"protocol": "nowhere"},
    ],
)
def test_names_are_looked_up_and_not_followed(own_green, scripted, config):
    with pytest.raises(AssessmentFailed, match="rejected"):
        own_green.ask(agentbeats(scripted, **config))


@pytest.mark.parametrize(
    "config",
    [
        {"data_path": "/etc", "log_dir": "/tmp/elsewhere", "output_dir": "/tmp/elsewhere"},
        {"metrics": ["this:Nope"], "agent": "this:Nope", "executor": "this:Nope"},
    ],
)
def test_files_folders_and_classes_are_passed_over(own_green, scripted, config):
    before = set(own_green.logs.iterdir())
    result = own_green.ask(agentbeats(scripted, **config))
    assert all(any(key in note for note in result.data["notes"]) for key in config)
    (folder,) = set(own_green.logs.iterdir()) - before
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["provenance"]["data_path"] is None
    assert manifest["metrics"] == []


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "http://10.255.255.1:80/", "http://[fe80::1]/"]
)
def test_other_machines_are_not_asked(own_green, url):
    with pytest.raises(AssessmentFailed, match="not an address that this green agent may call"):
        own_green.ask(agentbeats(url))


def test_redirects_tell_nothing_of_other_servers(own_green, strange):
    result = own_green.ask(agentbeats(f"{strange}redirect-away/", num_games=1))
    assert "redirects to another server" in result.data["games"][0]["error"]


def test_so_many_at_once(own_green, strange, scripted):
    news = []
    waiting = threading.Thread(
        target=lambda: own_green.assess(f"{strange}hang/", news, turn_timeout=4), daemon=True
    )
    waiting.start()
    assert eventually(lambda: any("game, run" in line for line in news))
    with pytest.raises(AssessmentFailed, match="already running 1 assessment, the most allowed"):
        own_green.assess(scripted)
    waiting.join()
    assert own_green.assess(scripted).data["wins"] == 1


def test_a_password_is_written_nowhere(own_green, served):
    before = set(own_green.logs.iterdir())
    news = []
    url = served.replace("http://", "http://me:hunter22@")
    result = own_green.ask(agentbeats(f"{url}scripted/"), news)
    (folder,) = set(own_green.logs.iterdir()) - before
    everything = [json.dumps(result.data), result.text, *news, *own_green.process.lines]
    everything += [file.read_text() for file in folder.iterdir()]
    assert not any("hunter22" in text or "aHVudGVy" in text for text in everything)
    assert result.data["wins"] == 1


def test_the_callers_are_told_no_paths(own_green, scripted, strange):
    news = []
    result = own_green.assess(scripted, news)
    assert not any(str(own_green.logs) in text for text in [result.text, *news])
    assert str(own_green.logs) not in json.dumps(result.data)


def test_trouble_with_the_log_folder_is_our_own_affair(tmp_path, scripted):
    blocked = tmp_path / "file"
    blocked.write_text("")
    options = ["--port", "0", "--log-dir", str(blocked / "logs"), "--data-path", "builtin"]
    with agentquest("green", *options) as process:
        with pytest.raises(AssessmentFailed, match="its own log says why") as caught:
            Green(process, blocked).assess(scripted)
        assert str(tmp_path) not in str(caught.value)
        assert eventually(lambda: any("cannot make the log folder" in x for x in process.lines))


UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad]")


@pytest.mark.parametrize("manner", ["evil-name", "evil-error"])
def test_what_agents_say_is_made_visible(own_green, strange, manner):
    before = set(own_green.logs.iterdir())
    news = []
    result = own_green.assess(f"{strange}{manner}/", news, max_steps=2)
    (folder,) = set(own_green.logs.iterdir()) - before
    report = (folder / "run_report.txt").read_text()
    for text in (result.text, report, *news):
        assert not UNSEEN.search(text)
        assert "\nSuccess Rate: 100.0%" not in text
        assert "\nWins: 99" not in text
    assert "x1b" in report


def test_the_launcher_shows_it_too(tmp_path, strange):
    options = ["--max-steps", "2", "--green-port", "0", "--log-dir", tmp_path]
    launch = ["launch", "--agent-url", f"{strange}evil-name/", *options]
    done = subprocess.run(
        [sys.executable, "-m", "agentquest", *launch],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=120,
    )
    assert not UNSEEN.search(done.stdout + done.stderr)
    assert "\\x1b]52" in done.stdout


class TestPointlessGames:
    def test_replies_without_text_are_found_in_the_first_game(self, own_green, strange):
        before = set(own_green.logs.iterdir())
        with pytest.raises(
            AssessmentFailed,
            match=r"no reply in the first game could be read: 3 of 3.*\[no text: 1 url\]",
        ):
            own_green.assess(f"{strange}file/", num_games=20, max_steps=3)
        (folder,) = set(own_green.logs.iterdir()) - before
        summary = json.loads((folder / "run_summary.json").read_text())
        assert (summary["status"], len(summary["game_summaries"])) == ("failed", 1)

    def test_in_a_single_game_they_are_a_note(self, own_green, strange):
        result = own_green.assess(f"{strange}file/", max_steps=2)
        assert any(note.startswith("2 of 2 replies had no text") for note in result.data["notes"])
        assert "replies had no text; first: game 1, turn 1" in result.text

    def test_a_refusal_is_not_repeated_in_every_game(self, own_green, strange):
        with pytest.raises(AssessmentFailed, match=r"denied access in the first game: HTTP 403"):
            own_green.assess(f"{strange}refuses/", num_games=20)

    def test_a_silent_agent_costs_a_few_games_only(self, own_green, strange):
        """All are lost, so that falling silent does not pay either."""
        result = own_green.assess(f"{strange}hang/", num_games=12, turn_timeout=0.2, concurrency=2)
        reasons = [game["end_reason"] for game in result.data["games"]]
        assert len(reasons) == result.data["num_games"] == 12
        assert reasons.count("agent_timeout") <= 7
        assert reasons.count("agent_error") >= 5
        assert "not called again: no answer in 5 games" in result.text

    def test_quitting_does_not_pay(self, own_green, strange, served):
        """An agent that stops answering loses those games: they are in every figure."""
        result = own_green.assess(f"{strange}hangs-later/", num_games=3, turn_timeout=0.3)
        assert result.data["num_games"] == result.data["requested_games"] == 3
        assert (result.data["success_rate"], result.data["errors"]) == (0, 3)


def test_an_unfinished_run_is_gone_on_with(tmp_path, strange, served):
    options = ["--port", "0", "--log-dir", str(tmp_path), "--data-path", "builtin", "--resume"]
    config = {"num_games": 4, "max_steps": 20, "turn_timeout": 60}
    url = f"{served}scripted/"
    with agentquest("green", *options) as process:
        whole = Green(process, tmp_path).assess(url, **config)
    (folder,) = tmp_path.iterdir()
    lines = (folder / "episodes.jsonl").read_text().splitlines(keepends=True)
    (folder / "episodes.jsonl").write_text("".join([*lines[:2], "damaged\n"]))
    with agentquest("green", *options) as process:
        green, news = Green(process, tmp_path), []
        result = green.assess(url, news, **config)
        assert any("2 games, run" in line and "2 already played" in line for line in news)
        assert result.data["games"] == whole.data["games"]
        assert "episodes.jsonl: skipped 1 damaged line" in result.text
        assert str(tmp_path) not in result.text
        assert result.data["run_id"] == whole.data["run_id"] == folder.name
        assert green.assess(url, **config).data["run_id"] != folder.name


def test_a_token_is_asked_for(tmp_path, scripted):
    options = ["--port", "0", "--log-dir", str(tmp_path), "--data-path", "builtin"]
    with agentquest("green", *options, AGENTQUEST_TOKEN="open-sesame") as process:
        with pytest.raises(AssessmentFailed, match="HTTP 401"):
            Green(process, tmp_path).assess(scripted)
        headers = {"Authorization": "Bearer open-sesame"}
        assert Green(process, tmp_path, headers).assess(scripted).data["wins"] == 1
