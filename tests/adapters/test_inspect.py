"""Inspect: its evaluation of our tasks, and its reader on our logs."""

import asyncio
import json
import re
import socket
import subprocess
import zipfile
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from adapter_scripts import SCRIPTS, countable, run
from foreign import foreign_python
from streaming_chat_server import chatting

from agentquest.adapters.arenas import shared_arena
from agentquest.api import evaluate
from agentquest.reports.exports.inspect_log import write_inspect_log
from agentquest.store.folder import RunFolder
from agentquest.store.stored_run import StoredRun
from browser import CHROMIUM, browser_tab
from report_runs import saved

STEPS = 20
NUMBER = 5


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """The explorer on the first tasks of the split."""
    folder = tmp_path_factory.mktemp("runs")
    tasks = shared_arena("alfworld", {"data_path": "builtin"}).tasks()[:NUMBER]
    return evaluate(
        benchmark="alfworld", data_path="builtin", tasks=[task.id for task in tasks],
        agent="scripted", max_steps=STEPS, output_dir=folder,
    )  # fmt: skip


def _exported(result, folder, **changed):
    directory = RunFolder(result.path)
    records = [
        record.model_copy(update=changed) if place == 0 else record
        for place, record in enumerate(directory.records())
    ]
    changed_run = saved(folder.with_name(f"{folder.name}-run"), records, directory.manifest())
    return write_inspect_log(StoredRun(changed_run.path), folder)


def test_a_log_is_a_zip_of_header_summaries_and_samples(played, tmp_path):
    file = _exported(played, tmp_path)
    assert file.suffix == ".eval"
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
        header = json.loads(archive.read("header.json"))
        summaries = json.loads(archive.read("summaries.json"))
        sample = json.loads(archive.read(names[0]))
    assert len([name for name in names if name.startswith("samples/")]) == NUMBER
    assert len(summaries) == NUMBER
    assert header["status"] == "success"
    means = {each["name"]: each["metrics"]["mean"]["value"] for each in header["results"]["scores"]}
    assert means["success"] == played.summary["success_rate"]
    assert sample["scores"]["outcome"]["value"]["success"] in (0, 1)
    assert sample["messages"][0]["role"] == "user"
    assert list(tmp_path.iterdir()) == [file], "nothing half-written is left"


def test_what_has_no_score_is_an_error_and_no_loss(played, tmp_path):
    file = _exported(played, tmp_path, scored=False, success=False)
    with zipfile.ZipFile(file) as archive:
        header = json.loads(archive.read("header.json"))
        summaries = json.loads(archive.read("summaries.json"))
    assert header["status"] == "cancelled"
    assert header["results"]["completed_samples"] == NUMBER - 1
    assert summaries[0]["scores"] is None
    assert summaries[0]["error"]


def test_inspect_reads_our_logs(played, tmp_path):
    python = foreign_python("inspect")
    file = _exported(played, tmp_path / "a")
    other = _exported(played, tmp_path / "b", scored=False)
    whole, partial = json.loads(
        run([python, SCRIPTS / "inspect_read.py", file, other]).splitlines()[-1]
    )
    assert whole["status"] == "success"
    assert whole["summaries"] == NUMBER
    assert whole["scores"]["success"] == played.summary["success_rate"]
    ours = {record.key: record for record in played.records}
    for key, sample in whole["samples"].items():
        record = ours[f"{key.rpartition('#')[0]}#0"]
        assert sample["score"] == {"success": int(record.success), "reward": record.reward}
        assert sample["messages"].count("assistant") == len(record.steps)
    assert sum(sample["score"] is None for sample in partial["samples"].values()) == 1


@pytest.fixture(scope="module")
def called(tmp_path_factory):
    """A game played by tool calls."""
    folder = tmp_path_factory.mktemp("runs")
    return evaluate(
        benchmark="mastermind", agent="tools", num_games=1, max_steps=6, output_dir=folder
    )


def test_inspect_reads_prompts_calls_and_results_of_every_step(called, tmp_path):
    python = foreign_python("inspect")
    file = _exported(called, tmp_path)
    (said,) = json.loads(run([python, SCRIPTS / "inspect_read.py", file]).splitlines()[-1])
    (sample,) = said["samples"].values()
    (record,) = called.records
    assert sample["results"] == [step.observation for step in record.steps]
    assert sample["prompts"] == [
        [message.content for message in record.prompt(step)] for step in record.steps
    ]
    assert sample["calls"] == [
        json.loads(call.arguments) for step in record.steps for call in step.tool_calls
    ]


@contextmanager
def inspect_view(folder):
    """Inspect's own viewer on a folder of logs; gives its address."""
    command = [foreign_python("inspect").replace("/python", "/inspect"), "view", "start"]
    with socket.socket() as free:  # it takes no port 0
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command += ["--log-dir", str(folder), "--host", "127.0.0.1", "--port", port]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        addresses = (re.search(r"http://[\w.:]+", line) for line in server.stdout)
        yield next(found.group() for found in addresses if found)
    finally:
        server.terminate()
        server.wait(timeout=30)


@pytest.mark.skipif(CHROMIUM is None, reason="no browser")
def test_inspects_viewer_shows_the_whole_transcript(called, tmp_path):
    file = _exported(called, tmp_path)
    (record,) = called.records
    sample = f"samples/sample/{quote(record.task_id, safe='')}/1/transcript"

    async def look(url):
        async with browser_tab() as tab:
            await tab.open(f"{url}/#/logs/{file.name}/{sample}")
            for _ in range(300):
                if "turn 1/" in (text := await tab.text()).lower():
                    return text
                await asyncio.sleep(0.1)
            return text

    with inspect_view(tmp_path) as url:
        text = asyncio.run(look(url))
    assert f"turn 1/{len(record.steps)}" in text.lower()
    assert record.steps[0].observation.splitlines()[0] in text
    assert "No events to display" not in text


def test_inspects_scores_of_the_same_player_are_ours(played, tmp_path):
    """Through Inspect's command line, as its users evaluate."""
    python = foreign_python("inspect")
    command = [python.replace("/python", "/inspect"), "eval", "agentquest/alfworld"]
    command += ["-T", "data_path=builtin", "-T", f"max_steps={STEPS}", "--limit", NUMBER]
    command += ["--model", "openai-api/local/explorer", "--log-dir", tmp_path]
    command += ["--display", "plain"]
    with chatting("explorer_answers:answer") as url:
        run(command, LOCAL_API_KEY="none", LOCAL_BASE_URL=url)
    (file,) = tmp_path.glob("*.eval")
    (said,) = json.loads(run([python, SCRIPTS / "inspect_read.py", file]).splitlines()[-1])
    assert said["status"] == "success"
    scores = {key.rpartition("#")[0]: sample for key, sample in said["samples"].items()}
    for record in played.records:
        sample = scores[record.task_id]
        assert sample["score"] == {"success": int(record.success), "reward": record.reward}
        assert sample["steps"] == len(record.steps)


def test_the_mock_model_runs(tmp_path):
    python = foreign_python("inspect")
    command = [python.replace("/python", "/inspect"), "eval", "agentquest/alfworld"]
    command += ["-T", "data_path=builtin", "-T", "max_steps=3", "--limit", 2]
    command += ["--model", "mockllm/model", "--log-dir", tmp_path, "--display", "plain"]
    run(command, **countable(python))
    (file,) = tmp_path.glob("*.eval")
    (said,) = json.loads(run([python, SCRIPTS / "inspect_read.py", file]).splitlines()[-1])
    assert {sample["score"]["success"] for sample in said["samples"].values()} == {0}
