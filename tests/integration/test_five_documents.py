"""The five documents that AgentQuest grew from, typed from top to bottom.

Their commands stand here in their order, with what they promise; their names are on
docs/documents.md, whose own blocks run in test_pages. Where the documents are at hand, the last
test looks for anything that neither has. What they print is compared to the letter in
tests/golden, and in tests/unit/alfworld/test_document_001.py.
"""

import importlib.util
import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = None

from agentquest.cli.app import BENCHMARK_COMMANDS, COMMANDS
from agentquest.store.stored_run import StoredRun
from shared_data import SHARED
from warm_python import Process, run

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "documents.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!they print|---)(.+?) \| (.+) \|$", PAGE, re.MULTILINE)

# The assessment: each command, and how many games of the types 1 to 6 it plays.
ASSESSMENT = """
Quick start
    python main.py launch                                                        | 1 0 0 0 0 0
More examples
    python main.py launch --num-games 5                                          | 1 1 1 1 1 0
    python main.py launch --task-types "1,2,3" --num-games 3                     | 1 1 1 0 0 0
    python main.py launch --coverage-mode comprehensive --num-games-per-type 5   | 5 5 5 5 5 5
Verify installation
    python main.py launch --num-games 1                                          | 1 0 0 0 0 0
Basic usage
    python main.py launch --num-games 3 --max-steps 30                           | 1 1 1 0 0 0
Task type selection
    python main.py launch --task-types "1" --num-games 5                         | 5 0 0 0 0 0
    python main.py launch --task-types "3,4,5" --num-games 9                     | 0 0 3 3 3 0
    python main.py launch --task-types "1,2,3,4,5,6" --num-games 6               | 1 1 1 1 1 1
Coverage modes
    python main.py launch --num-games 12                                         | 2 2 2 2 2 2
    python main.py launch --num-games-per-type 3                                 | 3 3 3 3 3 3
Data splits
    python main.py launch --train-eval eval_out_of_distribution                  | 1 0 0 0 0 0
    python main.py launch --train-eval eval_in_distribution                      | 1 0 0 0 0 0
    python main.py launch --train-eval train                                     | 1 0 0 0 0 0
Reproducing original benchmark results
    python main.py launch --train-eval eval_out_of_distribution --num-games 100 --max-steps 50 \
        --task-types "1,2,3,4,5,6"                                             | 17 17 17 17 16 16
Validation test cases
    python main.py launch --num-games 1 --task-types "1" --max-steps 50          | 1 0 0 0 0 0
    python main.py launch --num-games 1 --task-types "5" --max-steps 50          | 0 0 0 0 1 0
    python main.py launch --num-games 3 --task-types "1,5,1" --max-steps 50      | 2 0 0 0 1 0
"""
SPLITS = {"eval_in_distribution": "valid_seen", "train": "train"}
# Running agents separately, and other ports if these are in use.
AGENTS = """
    python main.py green
    python main.py white
    python main.py green --port 9003
    python main.py white --port 9004
"""
# The drivers' installation, and what is not ours: docs/documents.md says what to type instead.
ELSEWHERE = """
    poetry add agentquest
    poetry install --with alfworld
    alfworld-download
    pip install agentquest
    bash ./setup.sh
    source .webshop-env/bin/activate
    python interface.py
    git clone https://github.com/alfworld/alfworld.git
    pip install -e .
    python scripts/alfworld-download
    python3.9 -m venv venv
    source venv/bin/activate
    python src/scripts/patch_textworld.py
"""


def typed(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a text with what they promise."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.startswith("    "):
            command, _, promise = line.partition("|")
            yield " ".join(command.split()), " ".join(promise.split())


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_assessment_plays_the_games_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "API_KEY", "LITELLM_PROXY_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ALFWORLD_DATA", "builtin")
    known: set[Path] = set()
    for command, promise in typed(ASSESSMENT):
        free_ports = ["--green-port", "0", "--white-port", "0"]
        words = [str(ROOT / "main.py"), *shlex.split(command)[2:], *free_ports]
        done = run(words, cwd=tmp_path, timeout=240)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        (folder,) = {*tmp_path.glob("logs/run_*")} - known
        known.add(folder)
        played = StoredRun(folder)
        types = Counter(record.task_type for record in played.records)
        found = " ".join(str(types[name]) for name in played.manifest.task_types)
        assert found == promise, command
        named = re.search(r"--train-eval (\w+)", command)
        split = SPLITS.get(named[1] if named else "", "valid_unseen")
        assert {record.split for record in played.records} == {split}
        assert all(record.scored for record in played.records)
        for file in ("run_summary.json", "run_report.txt", "game_000.json"):
            assert (folder / file).is_file()


@pytest.mark.parametrize("command", [command for command, _ in typed(AGENTS)])
def test_the_agents_are_served(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "your-key")
    words = shlex.split(re.sub(r" --port \d+", "", command))[2:]
    agent = Process(
        [ROOT / "main.py", *words, "--port", "0"],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert re.match(
            rf"AgentQuest {words[0]} agent .*at http://localhost:\d+/", agent.stdout.readline()
        )
    finally:
        agent.terminate()
        agent.communicate(timeout=60)


def test_every_row_of_the_page_says_what_it_is_here() -> None:
    assert len(ROWS) >= 30
    for printed, here in ROWS:
        assert printed.strip()
        assert here.strip(" –")


def test_the_commands_on_the_page_exist() -> None:
    named = set(re.findall(r"`agentquest ([a-z0-9-]+)", PAGE))
    assert named >= {"download", "serve", "init", "green"}
    assert named <= {*COMMANDS, *BENCHMARK_COMMANDS}


def test_the_files_and_modules_on_the_page_exist() -> None:
    files = re.findall(r"`(examples/[\w.]+)`", PAGE)
    assert len(files) == 3
    assert [name for name in files if not (ROOT / name).is_file()] == []
    modules = [*re.findall(r"`(agentquest(?:\.\w+)+)`", PAGE)]
    modules += [f"agentquest.a2a.{name}" for name in ("launcher", "green", "white", "client")]
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


def test_the_notebook_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    notebook = json.loads((ROOT / "examples" / "example.ipynb").read_text(encoding="utf-8"))
    there: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [], "outputs are not kept in the repository"
            exec("".join(cell["source"]), there)  # noqa: S102 - as Jupyter does
    assert getattr(there["obs"], "success", None) is True
    assert getattr(there["result"], "complete", None) is True


@pytest.mark.skipif(tomllib is None, reason="needs Python 3.11")
def test_a_plain_installation_can_launch() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.match(r"[\w-]+", entry)[0] for entry in project["dependencies"]}  # type: ignore[index]
    assert {"a2a-sdk", "uvicorn"} <= names
    assert project["optional-dependencies"]["a2a"] == []
    lock = (ROOT / "requirements-core.lock").read_text(encoding="utf-8")
    assert re.search(r"^a2a-sdk\[http-server\]==1\.", lock, re.MULTILINE)


# Words of the games, numbers, and models that the documents only take as examples.
_EXAMPLE = re.compile(
    r"(?:go to|take|move|open|close|heat|clean|cool|use|examine) .*\d|gpt-4o(?:-mini)?|true|0\.0"
    r"|put a hot potato in fridge|\"go to garbagecan 1\"|search\[women jumpsuits\]|README\.md"
    r"|/path/to/.*|(?:.*/)?__init__\.py|step\(\)|.*[\u4e00-\u9fff].*|game_001\.json|run_2024.*"
)
_FILE = re.compile(r"[\w.-]+\.(?:py|sh|toml|yaml|json|txt|ipynb|pddl|twl2|tw-pddl)\b")
_NAME = re.compile(r"\b(?:(?:AlfWorld|Webshop)\w+|[A-Z]+(?:_[A-Z]+)+)\b")
_COMMAND = re.compile(r"(?:python|python3\.9|pip|poetry|bash|source|git|alfworld-download)\b.*")


@pytest.mark.skipif(not (SHARED / "seeds").is_dir(), reason="the documents are not at hand")
def test_nothing_that_the_documents_print_is_forgotten() -> None:
    commands = [command for text in (ASSESSMENT, AGENTS, ELSEWHERE) for command, _ in typed(text)]
    flat = PAGE.replace("`", "")
    missing = []
    for document in sorted((SHARED / "seeds").glob("*.txt")):
        text = document.read_text(encoding="utf-8")
        shell = "\n".join(re.findall(r"```(?:bash)?\n(.*?)```", text, re.DOTALL))
        for line in shell.replace("\\\n", " ").splitlines():
            command = " ".join(line.partition(" #")[0].split())
            if _COMMAND.fullmatch(command) and "[OPTIONS]" not in command:
                is_typed = any(command.removesuffix(" alfworld") == known for known in commands)
                missing += [] if is_typed else [command]
            elif variable := re.match(r"export (\w+)=", command):
                missing += [] if variable[1] in PAGE else [command]
        names = {
            *re.findall(r"`([^`\n]{2,60})`", text),
            *_FILE.findall(shell),
            *_NAME.findall(text),
        }
        missing += [name for name in names if name not in flat and not _EXAMPLE.fullmatch(name)]
    assert sorted({*missing}) == []


def test_what_is_typed_elsewhere_is_on_the_page() -> None:
    assert [command for command, _ in typed(ELSEWHERE) if command not in PAGE] == []
