"""`${NAME}` in files, lists of tasks in files, and notes: what is not a setting of its own."""

import os
from pathlib import Path

import pytest

from agentquest.config import load_config
from agentquest.errors import ConfigError, UnknownName
from agentquest.running.run import Run

KEY = "sk-very-secret-0123456789abcdef"


def written(folder: Path, text: str, name: str = "run.yaml") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_variables_are_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GAMES", "7")
    monkeypatch.setenv("PLACE", "gpu-3")
    note = "$${GAMES} and ${GAMES} $PLACE $$$${X}"
    text = f"num_games: ${{GAMES}}\ntags: [plain, 'on ${{PLACE}}']\nnote: {note}\n"
    config, _ = load_config(written(tmp_path, text))
    assert config.num_games == 7
    assert config.tags == ("plain", "on gpu-3")
    assert config.note == "${GAMES} and 7 $PLACE $$${X}"
    again, _ = load_config(written(tmp_path, config.to_yaml()))
    assert again == config, "a saved configuration is read as it stands"


def test_quoted_digits_stay_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NAME", "2024")
    assert load_config(written(tmp_path, "run_name: '${NAME}'\n"))[0].run_name == "2024"


def test_a_value_brings_no_structure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTE", "x\nnum_games: 3\n- ${HOME}: {a: b}")
    config, _ = load_config(written(tmp_path, "note: ${NOTE}\n"))
    assert config.note == "x\nnum_games: 3\n- ${HOME}: {a: b}"
    assert config.num_games is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 1\nllm:\n  model: ${NO_SUCH}\n", "line 3, llm.model: .* NO_SUCH is not set"),
        ("tags:\n  - a\n  - ${NO_SUCH}\n", "line 3, tags: .* NO_SUCH is not set"),
        ("note: ${NO_SUCH:-x}\n", "line 1, note: .* needs a variable's name"),
        ("note: ${}\n", "line 1, note: .* needs a variable's name"),
        ("note: ${OPEN\n", "line 1, note: .* needs a variable's name"),
    ],
)
def test_a_mistake_names_field_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(ConfigError, match=said) as raised:
        load_config(file)
    assert str(file) in str(raised.value)


def test_a_key_goes_to_the_model_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    config, _ = load_config(written(tmp_path, "llm: {model: m, api_key: '${LAB_API_KEY}'}\n"))
    assert config.llm is not None
    assert config.llm.api_key is not None
    assert config.llm.api_key.get_secret_value() == KEY
    assert KEY not in config.to_yaml()
    assert KEY not in repr(config)
    places = ("base_url: 'https://me:${LAB_API_KEY}@host/v1'", "extra_body: {a: '${LAB_API_KEY}'}")
    for place in places:
        with pytest.raises(ConfigError, match="named like a key"):
            load_config(written(tmp_path, f"llm:\n  model: m\n  {place}\n"))


def test_the_number_of_tokens_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_TOKENS", "64")
    config, _ = load_config(written(tmp_path, 'llm: {model: m, max_tokens: "${MAX_TOKENS}"}\n'))
    assert config.llm is not None
    assert config.llm.settings["max_tokens"] == 64


# ------------------------------------------------------------------ lists of tasks


@pytest.mark.parametrize(
    "text",
    [
        "test/4-digits/003\n\n# a remark\n  test/4-digits/001  \n",
        '[\n "test/4-digits/003",\n "test/4-digits/001"\n]\n',
    ],
)
def test_tasks_come_from_a_file(tmp_path: Path, text: str) -> None:
    file = written(tmp_path, text, "hard.txt")
    config, _ = load_config(None, ["benchmark=mastermind", f"tasks.file={file}"])
    assert config.tasks == ("test/4-digits/003", "test/4-digits/001")
    by_id, _ = load_config(
        None, ["benchmark=mastermind", "tasks=[test/4-digits/003, test/4-digits/001]"]
    )
    assert config.config_hash == by_id.config_hash, "the file's name decides nothing"
    assert str(file) not in config.to_yaml()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("test/4-digits/003\n\nno-such-task\n", "line 3"),
        ('["test/4-digits/003",\n\n"no-such-task"]', "entry 2"),
    ],
)
def test_an_unknown_task_is_named_with_its_place(tmp_path: Path, text: str, place: str) -> None:
    file = written(tmp_path, text, "hard.txt")
    config, _ = load_config(None, ["benchmark=mastermind", f"tasks.file={file}"])
    with pytest.raises(UnknownName, match=rf"hard\.txt, {place}: .*'no-such-task'"):
        Run(config)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n# nothing\n", "lists no tasks"),
        ("test/4-digits/003\ntest/4-digits/003\n", "line 2: 'test/4-digits/003' is listed twice"),
        ('["test/4-digits/003", 4]', "entry 2 is not a task id"),
        ('["test/4-digits/003",', "is not JSON, line 1"),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = written(tmp_path, text, "hard.txt")
    with pytest.raises(ConfigError, match=said):
        load_config(None, ["benchmark=mastermind", f"tasks.file={file}"])


def test_a_file_given_as_a_task_is_told_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "test/4-digits/003\n", "hard.txt")
    config, _ = load_config(None, ["benchmark=mastermind", "tasks=hard.txt"])
    with pytest.raises(UnknownName, match=r"tasks\.file=hard\.txt"):
        Run(config)


# ------------------------------------------------------------------ notes and tags


def test_notes_and_tags_stand_in_the_manifest_and_decide_nothing(tmp_path: Path) -> None:
    plain = ["benchmark=mastermind", "num_games=1", f"output_dir={tmp_path}"]
    first = Run(load_config(None, plain)[0])
    noted = Run(load_config(None, [*plain, "note=after the fix", "tags=[a, b]"])[0])
    assert first.directory.path == noted.directory.path
    first.prepare()
    noted.prepare()
    manifest = noted.directory.manifest()
    assert (manifest.note, manifest.tags) == ("after the fix", ["a", "b"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipe is a file on Windows")
def test_a_list_of_tasks_is_read_from_a_file_that_can_be_one(tmp_path: Path) -> None:
    deep, pipe = tmp_path / "deep.json", tmp_path / "pipe"
    deep.write_text("[" * 100_000)
    os.mkfifo(pipe)
    for file, reason in (
        (deep, "is nested too deeply"),
        (pipe, ": not a regular file"),
        (Path("/dev/zero"), ": not a regular file"),
    ):
        with pytest.raises(ConfigError, match=reason):
            load_config(None, ["benchmark=mastermind", f"tasks.file={file}"])
