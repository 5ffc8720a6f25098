"""README and docs, typed by somebody who reads them in order, in one folder.

Blocks with a file's name are written down, Python and command lines are run, and what the page says
they print is compared (`…` stands for anything). Servers get a free port and end with their page.
Nothing is on the machine but the repository's examples and GIVEN: no data, no model, no key.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentquest.records.outcome import End
from agentquest.store.folder import RunFolder
from warm_python import Process, run

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION = re.findall(r": (\w+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
PAGES = {
    "README.md": ROOT / "README.md",
    **{name: ROOT / "docs" / name for name in NAVIGATION},
}
BLOCK = re.compile(r"^ *```(\w+) ?([\w.]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
# What is not run here, and why. Everything else is.
LEFT_OUT = {
    r"pip install |poetry add ": "goes to the network; test_readme_commands installs a fresh clone",
    r"make ": "sets up the repository and runs these tests; test_readme_commands",
    r"source ": "the environment is active",
    r"agentquest download ": "goes to the network; test_downloads",
    r"docker ": "needs Docker",
    r"vllm |.*protocol=gigpo": "needs a GPU",
    r".*(executor=ray|RayVector)": "needs a cluster; tests/ray",
    r"vf-eval |inspect eval |from openenv": "others' packages; test_environments_page",
    r".*node walker": "" if shutil.which("node") else "needs Node.js",
}
# Files that readers have from elsewhere.
GIVEN = {
    "your_script.py": "import alfworld.agents.environment as theirs\n"
    "print(theirs.get_environment('AlfredTWEnv'))\n",
    "config.yaml": "",
    "alfworld_3prompts.json": json.dumps(
        {
            f"react_{word}_{number}": word
            for word in ("put", "examine", "clean", "heat", "cool", "puttwo")
            for number in (0, 1)
        }
    ),
}
# Commands that serve until they are stopped, and their usual ports.
SERVERS = {
    r"agentquest view (?!.*--export)": 7575,
    r"agentquest serve webshop": 5555,
    r"agentquest serve agentgym": 36001,
    r"agentquest serve agentbench": 5021,
    r"agentquest serve openenv": 8000,
    r"(agentquest|python main\.py) green": 9001,
    r"(agentquest|python main\.py) white|python examples/custom_white_agent": 9002,
}
PATIENCE_S = 240.0


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_every_command_on_every_page_runs_in_one_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(tmp_path, monkeypatch)
    for name, page in PAGES.items():
        reader.read(name, page.read_text(encoding="utf-8"))
    if reader.problems:
        pytest.fail("\n\n".join(reader.problems), pytrace=False)
    forgotten = [reason for reason in LEFT_OUT.values() if reason not in {"", *reader.left_out}]
    assert forgotten == [], "no page has such a command any more"
    check_runs(reader.runs)
    assert (tmp_path / "runs" / "offline" / "report" / "index.html").is_file()


def check_runs(runs: dict[str, list[RunFolder]]) -> None:
    """Pages make the runs that they speak of, and every episode has a score."""
    agents = {page: {each.manifest().agent for each in made} for page, made in runs.items()}
    assert agents["evaluator.md"] == {"react", "scripted"}
    assert agents["own_agent.md"] == {"careful:Careful"}
    assert agents["agents.md"] == {"prompted", "command"}
    assert {each.manifest().protocol for each in runs["protocols.md"]} == {"my-setting"}
    for made in runs.values():
        for folder in made:
            records = folder.records()
            assert all(record.scored for record in records), folder.path
            if folder.manifest().config["agent"].get("prompt_file") == "my_prompt.txt":
                assert [record.end for record in records] == [End.SOLVED, End.SOLVED]
                system, _ = records[0].prompt(records[0].steps[0])
                assert system.content.startswith("You live in a text game.")


def test_every_page_is_in_the_navigation() -> None:
    assert {page.name for page in (ROOT / "docs").glob("*.md")} == set(NAVIGATION)


class Reader:
    """Somebody who types what the pages say."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._servers: list[Process] = []
        self._ports: dict[int, int] = {}
        self.problems: list[str] = []
        self.left_out: set[str] = set()
        self.runs: dict[str, list[RunFolder]] = defaultdict(list)
        for name in ("examples", "main.py"):
            (folder / name).symlink_to(ROOT / name)
        for name, content in GIVEN.items():
            (folder / name).write_text(content, encoding="utf-8")
        cache = os.environ.get("AGENTQUEST_CACHE", str(Path.home() / ".cache" / "agentquest"))
        for name in ("ALFWORLD_DATA", "WEBSHOP_DATA", "OPENAI_API_KEY"):
            patch.delenv(name, raising=False)
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("AGENTQUEST_CACHE", cache)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("BROWSER", "true")
        patch.setenv("NO_COLOR", "1")

    def read(self, page: str, text: str) -> None:
        known = set(self._folder.glob("runs/**/manifest.json"))
        try:
            for language, file, content in BLOCK.findall(text):
                if file:
                    (self._folder / file).write_text(content, encoding="utf-8")
                for command, printed in commands(language if not file else "", content):
                    self._try(page, command, printed)
        finally:
            self._leave()
        made = set(self._folder.glob("runs/**/manifest.json")) - known
        self.runs[page] = [RunFolder(each.parent) for each in sorted(made)]

    def _try(self, page: str, command: str, printed: str) -> None:
        why = [reason for pattern, reason in LEFT_OUT.items() if re.match(pattern, command)]
        if any(why):
            self.left_out |= {*why}
            return
        usual = [port for pattern, port in SERVERS.items() if re.match(pattern, command)]
        try:
            said = self._serve(command, usual[0]) if usual else self._run(command)
            parts = [re.escape(part.strip()) for part in printed.split("…")]
            found = re.search(".*?".join(parts), said, re.DOTALL)
            assert found, f"prints something else:\n{said[-2000:]}"
        except (AssertionError, subprocess.TimeoutExpired) as problem:
            self.problems.append(f"{page}: {command}\n{problem}")

    def _run(self, command: str) -> str:
        for usual, port in self._ports.items():
            command = command.replace(f"localhost:{usual}", f"localhost:{port}")
        line, _, file = command.partition(" > ")
        arguments = ["-c", command] if "\n" in command else python(shlex.split(line))
        if "launch" in arguments:
            arguments += ["--green-port", "0", "--white-port", "0"]
        if arguments[0] in ("-c", "-m") or arguments[0].endswith(".py"):
            done = run(arguments, input="quit\n", timeout=PATIENCE_S, cwd=self._folder)
        else:
            done = subprocess.run(
                arguments, cwd=self._folder, capture_output=True, text=True, check=False
            )
        assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        if file:
            (self._folder / file).write_text(done.stdout, encoding="utf-8")
        return done.stdout

    def _serve(self, line: str, usual: int) -> str:
        """Started at a free port, and asked for an answer."""
        asked = re.search(r" --port (\d+)", line)
        usual = int(asked[1]) if asked else usual
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = self._ports[usual] = free.getsockname()[1]
        line = line.replace(asked[0] if asked else "\n", "")
        more = ["--site-port", "0"] if re.search("--site|--original-pages", line) else []
        server = Process(
            [*python(shlex.split(line)), "--port", port, *more],
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._servers.append(server)
        said = ""
        for said in server.stdout or ():
            if address := re.search(r"http://[\w.:]+", said):
                wait_for_answer(address[0])
                return said
        raise AssertionError(f"it says no address: {said}")

    def _leave(self) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGINT)
        for server in self._servers:
            server.communicate(timeout=PATIENCE_S)
        self._servers.clear()
        self._ports.clear()


def commands(language: str, content: str) -> Iterator[tuple[str, str]]:
    """A block's commands, each with what it says it prints."""
    if language == "python":
        yield content, "…".join(re.findall(r"^ *print\(.*\)  # (.+)$", content, re.MULTILINE))
    elif language == "bash":
        for line in content.replace("\\\n", " ").splitlines():
            if command := line.partition(" #")[0].strip():
                yield command, ""
    elif language == "console":
        for shown in content.split("$ ")[1:]:
            line, _, printed = shown.partition("\n")
            yield line.partition(" #")[0].strip(), printed.strip()


def python(words: list[str]) -> list[str]:
    """What Python is given to run a command of its own."""
    if words[0] == "agentquest":
        return ["-m", *words]
    return words[1:] if words[0] == "python" else words


def wait_for_answer(address: str) -> None:
    """Whatever is answered: it serves."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"nobody answers at {address}")


def test_the_readme_is_short_and_says_who_it_is_for() -> None:
    lines = PAGES["README.md"].read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    first_screen = "\n".join(lines[:26])
    for part in ("make demo", "demo.svg", "for you if", "evaluate a model", "assess", "train"):
        assert part in first_screen
