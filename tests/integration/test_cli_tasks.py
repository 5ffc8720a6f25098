"""`agentquest --help` and `agentquest tasks`, as real processes."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentquest.cli.app import BENCHMARK_COMMANDS, COMMANDS, main
from warm_python import agentquest

SIZES = {"train": 3553, "valid_seen": 140, "valid_unseen": 134, "valid_train": 200}
TYPES = (
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
)
HEAVY = (
    "asyncio",
    "numpy",
    "pydantic",
    "aiohttp",
    "matplotlib",
    "rich",
    "prompt_toolkit",
    "starlette",
)
LATER = ("numpy", "rapidfuzz", "rich", "htpy", "matplotlib", "starlette", "uvicorn", "a2a")


def tasks(*args: str) -> subprocess.CompletedProcess[str]:
    return agentquest("tasks", "alfworld", "--data-path", "builtin", *args)


def test_help_names_every_command_with_its_line() -> None:
    shown = agentquest("--help")
    assert shown.returncode == 0
    lines = {name: line for name, (_, line) in COMMANDS.items()} | BENCHMARK_COMMANDS
    for name, line in lines.items():
        assert name in shown.stdout
        assert line in shown.stdout
    assert agentquest("-h").stdout == shown.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from agentquest.cli import main\n"
        "try:\n    main(['--help'])\n"
        "except SystemExit as leaving:\n    assert not leaving.code, leaving.code\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
        "benchmarks = [name for name in sys.modules if name.startswith('agentquest.benchmarks')]\n"
        "assert not benchmarks, benchmarks\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("words", "later"),
    [
        (["eval", "data_path=builtin", "num_games=1", "model=m"], LATER),
        (["launch", "--data-path", "builtin"], ("a2a.server", "uvicorn", "numpy")),
    ],
    ids=["eval", "launch"],
)
def test_the_model_is_asked_before_anything_is_imported_that_comes_later(
    words: list[str], later: Sequence[str], tmp_path: Path
) -> None:
    """The first request goes out before anything that only figures, drawings or servers need."""
    code = (
        "import gc, os, socket, sys, threading\n"
        "server = socket.create_server(('127.0.0.1', 0))\n"
        "found = []\n"
        "def answer():\n"
        "    asked, _ = server.accept()\n"
        "    asked.recv(65536)\n"
        f"    found.extend(name for name in {later!r} if name in sys.modules)\n"
        "    found.append(gc.get_stats()[0]['collections'])\n"
        "    asked.sendall(b'HTTP/1.1 401 Unauthorized\\r\\nContent-Length: 0\\r\\n\\r\\n')\n"
        "    asked.close()\n"
        "threading.Thread(target=answer, daemon=True).start()\n"
        "os.environ['OPENAI_API_KEY'] = 'k'\n"
        "os.environ['OPENAI_BASE_URL'] = f'http://127.0.0.1:{server.getsockname()[1]}/v1'\n"
        "from agentquest.cli import main\n"
        "try:\n"
        f"    main({words!r})\n"
        "finally:\n"
        "    print(found, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert done.returncode == 2, done.stderr
    *modules, collections = json.loads(done.stderr.splitlines()[-1].replace("'", '"'))
    assert modules == []
    assert collections < 50, "the garbage collector runs hundreds of times during imports"


OF_BENCHMARKS = [
    ["download"],
    ["download", "alfworld"],
    ["download", "webshop"],
    ["serve"],
    ["serve", "webshop"],
    ["homes"],
    ["homes", "alfworld"],
]


@pytest.mark.parametrize("words", [*([name] for name in COMMANDS), *OF_BENCHMARKS], ids=" ".join)
def test_every_command_explains_itself(words: list[str]) -> None:
    shown = agentquest(*words, "--help")
    assert shown.returncode == 0, shown.stderr
    assert f"agentquest {' '.join(words)}" in shown.stdout


def test_a_benchmark_s_command_imports_no_other_benchmark() -> None:
    code = (
        "import sys\n"
        "from agentquest.cli import main\n"
        "try:\n    main(['download', 'alfworld', '--help'])\n"
        "except SystemExit as leaving:\n    assert not leaving.code, leaving.code\n"
        "assert 'agentquest.benchmarks.alfworld' in sys.modules\n"
        "assert 'agentquest.benchmarks.webshop' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_benchmarks_are_listed_with_what_they_can_do() -> None:
    done = agentquest("benchmarks")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    for name, size in SIZES.items():
        assert f"{name} ({size})" in text
    assert "commands download, homes" in text
    assert all(len(line) <= 80 for line in done.stdout.splitlines())


@pytest.mark.parametrize("split", SIZES)
def test_counts_on_the_built_in_homes(split: str) -> None:
    done = tasks("--split", split, "--count")
    assert done.returncode == 0
    *by_type, total = [line.split() for line in done.stdout.splitlines()]
    assert [name for _, name in by_type] == list(TYPES)
    assert sum(int(number) for number, _ in by_type) == SIZES[split]
    assert total[:2] == [str(SIZES[split]), "tasks"]
    assert "builtin" in done.stdout


def test_the_ids_alone_go_to_standard_output() -> None:
    done = tasks()
    ids = done.stdout.splitlines()
    assert len(ids) == len(set(ids)) == SIZES["valid_unseen"]
    assert ids == sorted(ids)
    assert all(task.startswith("valid_unseen/") and task.count("/") == 2 for task in ids)
    assert "134 tasks" in done.stderr


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["4"], {TYPES[3]}),
        (["heat"], {TYPES[3]}),
        (["pick_heat_then_place"], {TYPES[3]}),
        (["look", "6"], {TYPES[1], TYPES[5]}),
    ],
)
def test_filter_by_type(given: list[str], wanted: set[str]) -> None:
    everything = tasks().stdout.splitlines()
    done = tasks(*(word for name in given for word in ("--type", name)))
    expected = [task for task in everything if task.split("/")[1].split("-")[0] in wanted]
    assert expected
    assert done.stdout.splitlines() == expected


def test_a_setting_is_an_option_wherever_it_stands() -> None:
    plain = agentquest("tasks", "webshop", "data_path=builtin", "goals=human")
    assert plain.stdout.startswith("human/test/")
    for words in (["webshop", "--goals", "human"], ["--goals=human", "webshop"]):
        assert agentquest("tasks", *words, "--data-path", "builtin").stdout == plain.stdout


def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agentquest", "tasks", "alfworld", "--data-path", "builtin"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("agentquest: cannot write the output")
    assert "Traceback" not in done.stderr


def test_filter_by_text_whatever_its_case() -> None:
    everything = tasks("--split", "valid_seen").stdout.splitlines()
    expected = [task for task in everything if "-fridge-" in task.lower()]
    assert 0 < len(expected) < len(everything)
    assert tasks("--split", "valid_seen", "--match", "-FRIDGE-").stdout.splitlines() == expected
    nothing = tasks("--match", "no such text", "--count")
    assert nothing.returncode == 0
    assert nothing.stdout.split()[:2] == ["0", "tasks"]


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["tasks", "alfworld", "--data-path", "builtin", "--type", "juggle"], ["juggle", *TYPES]),
        (["tasks", "alfworld", "--data-path", "builtin", "--split", "test"], ["'test'", *SIZES]),
        (["tasks", "alfword"], ["'alfword'", "did you mean 'alfworld'"]),
        (["tasks", "alfworld", "--data-path", "no/such/folder"], ["no/such/folder"]),
        (["tasks"], ["name a benchmark", "alfworld"]),
        (["tasks", "alfworld", "webshop"], ["one benchmark at a time"]),
        (["tasks", "alfworld", "--dialct", "0.3"], ["did you mean 'dialect'"]),
        (["tasks", "alfworld", "--dialect"], ["--dialect needs a value"]),
        (["download", "chess"], ["'chess'", "alfworld", "webshop"]),
        (["serve", "alfworld"], ["'alfworld' has no such command", "webshop"]),
        (["dwnload"], ["did you mean 'download'"]),
        (["juggle"], ["unknown command 'juggle'", "homes"]),
        (["init", "no/such/folder/run.yaml"], ["no/such/folder/run.yaml"]),
    ],
)
def test_a_mistake_is_one_line_that_names_it(args: list[str], named: list[str]) -> None:
    done = agentquest(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    for text in named:
        assert text in done.stderr


def test_own_benchmarks_are_found_in_the_current_folder(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "custom_benchmark.py"
    (tmp_path / "own_guess.py").write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    program = Path(sys.executable).with_name("agentquest")
    listed = subprocess.run(
        [program, "tasks", "own_guess:GuessBenchmark"],
        cwd=tmp_path,
        capture_output=True,
        timeout=60,
    )
    assert listed.returncode == 0, listed.stderr


@pytest.mark.parametrize("command", ["runs", "report", "compare", "power", "view", "export"])
def test_what_lies_beside_a_run_is_not_imported(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit):
        main([command, "missing"])
    assert str(tmp_path) not in sys.path
