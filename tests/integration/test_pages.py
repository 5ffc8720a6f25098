"""README and docs: every block runs as printed, in order, in a fresh folder.

Blocks with a file's name are written down, Python is run, and shell lines are run one by one.
Servers are started, asked for an answer, and stopped at the end of the page. Nothing is on the
machine but the repository's examples: no data, no model, no key.
"""

import io
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from agentquest.cli import main

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+) ?([\w.]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Held by tests of their own: test_evaluator_docs, test_games_docs, test_environments_page.
ELSEWHERE = {"evaluator.md", "records.md", "games.md", "environments.md"}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# What a test cannot do, and why.
LEFT_OUT = {
    r"pip install ": "it is installed",
    r"make ": "sets up the repository, and runs these tests",
    r"agentquest download ": "goes to the network",
}
SERVERS = re.compile(r"agentquest (view(?!.*--export)|serve|green|white) |custom_white_agent\.py")
PORTS = re.compile(r"\b(5555|3000|7575|9001|9002)\b")
PATIENCE_S = 120.0


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in ELSEWHERE], ids=lambda page: page.stem
)
def test_every_block_runs_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = Reader(tmp_path, monkeypatch)
    try:
        for language, file, content in BLOCK.findall(page.read_text(encoding="utf-8")):
            if file:
                (tmp_path / file).write_text(content, encoding="utf-8")
            elif language == "python":
                reader.run([sys.executable, "-c", content], content)
            elif language == "bash":
                for line in content.splitlines():
                    reader.line(line.partition(" #")[0].strip())
    finally:
        reader.leave()
    checks = {"README": hits_what_is_there}
    checks.get(page.stem, lambda said: None)(reader.said)


def hits_what_is_there(said: str) -> None:
    """The examples play something that exists in the game that is shown."""
    assert "You arrive at fridge 1." in said
    assert "Your task is to: put a hot apple in fridge." in said
    asked, found = said.partition("Find me non gmo spices")[1:]
    assert asked, "the instruction"
    assert "Page 1 (Total results: " in found


def test_no_page_is_forgotten() -> None:
    names = {page.name for page in PAGES}
    assert names >= ELSEWHERE
    assert len(names) >= 12


class Reader:
    """Somebody who types what a page says."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self._folder = folder
        self._patch = patch
        self._servers: list[subprocess.Popen[str]] = []
        self._ports: dict[str, str] = {}
        self.said = ""
        for name in ("examples", "main.py"):
            (folder / name).symlink_to(ROOT / name)
        patch.chdir(folder)
        patch.setattr(sys, "path", list(sys.path))
        cache = os.environ.get("AGENTQUEST_CACHE", str(Path.home() / ".cache" / "agentquest"))
        for name in ("ALFWORLD_DATA", "WEBSHOP_DATA", "OPENAI_API_KEY"):
            patch.delenv(name, raising=False)
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.setenv("AGENTQUEST_CACHE", cache)
        patch.setenv("HOME", str(folder / "home"))
        patch.setenv("BROWSER", "true")
        patch.setenv("NO_COLOR", "1")

    def line(self, line: str) -> None:
        if not line or any(re.match(pattern, line) for pattern in LEFT_OUT):
            return
        if SERVERS.search(line):
            self._serve(PORTS.sub(lambda found: self._port(found[0]), line), line)
        else:
            line = self._free(PORTS.sub(lambda found: self._ports.get(found[0], found[0]), line))
            if line.startswith("agentquest ") and not re.search(r"[|<>&;$]", line):
                self._command(shlex.split(line)[1:], line)
            else:
                self.run(["bash", "-euc", line], line)

    def _command(self, words: list[str], shown: str) -> None:
        """In this process, as starting one takes longer than most commands."""
        self._patch.setattr(sys, "stdin", io.StringIO("quit\n"))
        out = io.StringIO()
        with redirect_stdout(out), pytest.raises(SystemExit) as left:
            main(words)
        assert left.value.code == 0, f"{shown}\n{out.getvalue()[-2000:]}"
        self.said += out.getvalue()

    def _free(self, line: str) -> str:
        """Agents that are launched listen on ports that are free."""
        launched = re.match(r"(agentquest|python main\.py) launch", line)
        return f"{line} --green-port 0 --white-port 0" if launched else line

    def _port(self, number: str) -> str:
        """A free port in place of the usual one, the same on the whole page."""
        if number not in self._ports:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._ports[number] = str(free.getsockname()[1])
        return self._ports[number]

    def run(self, command: list[str], shown: str) -> None:
        done = subprocess.run(
            command,
            cwd=self._folder,
            input="quit\n",
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, f"{shown}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        self.said += done.stdout

    def _serve(self, line: str, shown: str) -> None:
        ports = [
            option
            for option, word in (("--port", "agentquest"), ("--site-port", "--site"))
            if word in line and option not in line
        ]
        for option in ports:
            line += f" {option} 0"
        server = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self._folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._servers.append(server)
        address = self._address(server)
        assert address, f"{shown}: no address was said"
        wait_for_answer(address)

    def _address(self, server: subprocess.Popen[str]) -> str:
        assert server.stdout is not None
        for line in server.stdout:
            found = re.search(r"http://[\w.:]+", line)
            if found:
                return found[0]
        return ""

    def leave(self) -> None:
        for server in self._servers:
            server.send_signal(signal.SIGINT)
        for server in self._servers:
            server.communicate(timeout=PATIENCE_S)


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


def test_pages_do_not_get_in_each_other_s_way_in_one_folder() -> None:
    """A run's name, or a file that is only written once, stands for the same on every page."""
    commands: dict[str, set[str]] = {}
    for page in PAGES:
        for language, _, content in BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in content.splitlines() if language in ("bash", "console") else ():
                command = " ".join(line.partition(" #")[0].removeprefix("$ ").split())
                for name in re.findall(r"run_name=(\S+)", command):
                    commands.setdefault(f"run {name}", set()).add(command)
                if made := re.match(r"agentquest init (\S+)", command):
                    commands.setdefault(f"file {made[1]}", set()).add(f"{page.name}: {command}")
    assert "run first" in commands
    assert {name: used for name, used in commands.items() if len(used) > 1} == {}


def test_the_readme_is_short_and_says_who_it_is_for() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 150
    first_screen = "\n".join(lines[:26])
    for part in ("make demo", "demo.svg", "for you if", "evaluate a model", "assess", "train"):
        assert part in first_screen
