"""Lists, environment variables and their files mean the same to every command."""

from pathlib import Path
from typing import Any

import pytest

from agentquest.a2a.config import AssessmentConfig
from agentquest.cli.env_file import take_env_files
from agentquest.config import RunConfig, load_config
from agentquest.config.example import example_config
from agentquest.errors import ConfigError
from agentquest.llms.config import read_service

SERVICE_VARIABLES = (
    *("API_KEY", "API_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    *("LITELLM_PROXY_API_KEY", "LITELLM_PROXY_API_BASE"),
)


@pytest.fixture(autouse=True)
def _no_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SERVICE_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def _config(*overrides: str) -> RunConfig:
    return load_config(None, overrides)[0]


@pytest.mark.parametrize("written", ["1,4", "1, 4", "[1,4]", "['1', '4']", '["1","4"]'])
def test_a_list_is_written_with_or_without_brackets(written: str, tmp_path: Path) -> None:
    assert _config(f"task_types={written}").benchmark_settings["task_types"] == [1, 4]
    file = tmp_path / "run.yaml"
    file.write_text(f"task_types: {written}\n", encoding="utf-8")
    assert load_config(file)[0].benchmark_settings["task_types"] == [1, 4]
    asked = AssessmentConfig.model_validate({"task_types": written}).task_types
    assert [str(each) for each in asked or ()] == ["1", "4"]


def test_names_and_single_values_are_lists_too() -> None:
    assert _config("task_types=heat,cool").benchmark_settings["task_types"] == ["heat", "cool"]
    assert _config("task_types=3").benchmark_settings["task_types"] == [3]
    assert _config("tags=cold,new").tags == ("cold", "new")
    assert _config("tags=cold").tags == ("cold",)


def test_both_ways_to_write_a_list_are_the_same_run() -> None:
    assert _config("task_types=1,2").config_hash == _config("task_types=[1,2]").config_hash


OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("environment", "given", "address", "key"),
    [
        ({"OPENAI_API_KEY": "k"}, {}, OPENAI, "OPENAI_API_KEY"),
        (
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://a/v1/"},
            {},
            "http://a/v1",
            "OPENAI_API_KEY",
        ),
        ({"OPENAI_BASE_URL": "http://a/v1"}, {}, "http://a/v1", None),
        ({"API_KEY": "k", "API_BASE_URL": "http://b/v1"}, {}, "http://b/v1", "API_KEY"),
        (
            {"API_KEY": "k", "API_BASE_URL": "http://b/v1", "OPENAI_API_KEY": "o"},
            {},
            "http://b/v1",
            "API_KEY",
        ),
        # A key goes only where it belongs.
        ({"OPENAI_API_KEY": "k"}, {"base_url": "http://c/v1"}, None, None),
        ({"OPENAI_API_KEY": "k"}, {"base_url": f"{OPENAI}/"}, OPENAI, "OPENAI_API_KEY"),
        ({"API_KEY": "k"}, {"base_url": "http://c/v1"}, "http://c/v1", "API_KEY"),
        ({"API_KEY": "k"}, {}, None, None),
        # A key of one's own is not sent to OpenAI because another is in the environment.
        ({"OPENAI_API_KEY": "k"}, {"api_key_env": "MINE"}, None, None),
        (
            {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://a/v1"},
            {"api_key": "mine"},
            "http://a/v1",
            None,
        ),
    ],
)
def test_the_environment_names_a_server_and_its_key(
    environment: dict[str, str], given: dict[str, str], address: str | None, key: str | None
) -> None:
    found = read_service(given, environment)
    assert (found.get("base_url"), found.get("api_key_env")) == (address, key)


def test_an_evaluation_reads_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:7/v1")
    llm = _config("model=x").llm
    assert llm is not None
    assert llm.settings["base_url"] == "http://127.0.0.1:7/v1"
    assert llm.settings["api_key_env"] == "OPENAI_API_KEY"
    other = _config("model=x", "base_url=http://127.0.0.1:8/v1", "llm.api_key_env=null").llm
    assert other is not None
    assert other.settings["base_url"] == "http://127.0.0.1:8/v1"
    assert other.settings["api_key_env"] is None
    assert _config().llm is None, "a key alone names no model"


def test_a_file_of_variables_is_read_only_if_it_is_named(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "# ours\nexport A=1\n\nB = \"two # words\" # a comment\nC=three # four\nD='x'\nE=\n",
        encoding="utf-8",
    )
    environment: dict[str, str] = {"A": "kept"}
    words = ["eval", "--env-file", str(file), "num_games=2"]
    assert take_env_files(["eval", "num_games=2"], environment) == ["eval", "num_games=2"]
    assert environment == {"A": "kept"}
    assert take_env_files(words, environment) == ["eval", "num_games=2"]
    assert environment == {"A": "kept", "B": "two # words", "C": "three", "D": "x", "E": ""}
    assert take_env_files([f"--env-file={file}"], environment) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [("secret-value", "line 1 is not of the form NAME=value"), (None, "cannot")],
)
def test_a_bad_file_of_variables_is_told_without_its_content(
    tmp_path: Path, content: Any, told: str
) -> None:
    file = tmp_path / "x.env"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=told) as error:
        take_env_files(["--env-file", str(file)], {})
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("place", ["file", "command line"])
def test_a_key_in_the_configuration_is_warned_of_once(place: str, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    text = "API_KEY: hunter2\n" if place == "file" else ""
    file.write_text(f"model: x\n{text}", encoding="utf-8")
    _, warnings = load_config(file, [] if text else ["api_key=hunter2"])
    assert len(warnings) == 1


def test_the_example_names_the_splits_and_types() -> None:
    text = " ".join(example_config().replace("#", " ").split())
    assert "There are: valid_unseen, valid_seen, valid_train, train." in text
    assert "6=pick_two_obj_and_place" in text
