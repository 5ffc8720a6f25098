"""What stands for a configuration: everything that can change a score, and nothing else."""

import os
from pathlib import Path
from typing import Any

import pytest

from agentquest.agents.react import ReActSettings
from agentquest.benchmarks.alfworld.benchmark import AlfWorldSettings
from agentquest.config import RunConfig, load_config
from agentquest.errors import ConfigError
from agentquest.llms.openai_chat import OpenAIChat

BASE: dict[str, Any] = {
    "llm": {
        "model": "m",
        "price_per_million_prompt": 1.0,
        "price_per_million_completion": 2.0,
    }
}

# Every field with another value than its default, sorted by whether it can change a
# score. A field that is in neither table fails the first test: whoever adds one decides.
DECIDES: dict[str, Any] = {
    "benchmark": "webshop",
    "protocol": "unseen-134",
    "benchmark_settings.split": "train",
    "benchmark_settings.task_types": [1],
    "num_games": 5,
    "tasks": ["a"],
    "benchmark_settings.data_path": "builtin",
    "benchmark_settings.dialect": "0.3",
    "benchmark_settings.playable": False,
    "benchmark_settings.goals": "human",
    "benchmark_settings.goal_seed": 3,
    "agent_faults": "lose",
    "seed": 1,
    "trials": 2,
    "max_steps": 7,
    "agent.name": "random",
    "agent.use_few_shot": False,
    "agent.num_examples": 3,
    "agent.history_length": 3,
    "agent.history_thoughts": True,
    "agent.check_valid_actions": False,
    "llm.model": "n",
    "llm.base_url": "http://127.0.0.1:9/v1",
    "llm.temperature": 0.9,
    "llm.max_tokens": 5,
    "llm.top_p": 0.5,
    "llm.stop": ["x"],
    "llm.seed": 1,
    "llm.extra_body": {"a": 1},
    "llm.enable_thinking": False,
    "llm.send_reasoning": True,
}
ONLY_OPERATES: dict[str, Any] = {
    "parallel": 1,
    "executor": "processes",
    "metrics": ["a:b"],
    "tags": ["a"],
    "note": "a",
    "sinks": ["a:b"],
    "resume": "warn",
    "step_timeout_s": 1.0,
    "cost_limit": 1.0,
    "output_dir": "elsewhere",
    "run_name": "name",
    "debug": True,
    "save_prompts": False,
    "compress_records": True,
    "preflight": False,
    "llm.api_key_env": "A_KEY",
    "llm.api_key": "sk-0123456789abc",
    "llm.timeout_s": 1.0,
    "llm.max_retries": 1,
    "llm.wait_interval": 9.0,
    "llm.deadline_s": 9.0,
    "llm.requests_per_minute": 9,
    "llm.tokens_per_minute": 9,
    "llm.max_concurrency": 9,
    "llm.max_response_bytes": 2048,
    "llm.price_per_million_prompt": 9.0,
    "llm.price_per_million_completion": 9.0,
    "llm.cache_dir": "cache",
    "llm.stream": True,
    "llm.cache_marks": True,
    "llm.price_per_million_cached": 0.5,
    "llm.price_per_million_cache_write": 2.5,
}
# Tested by itself: it is the file's content that decides.
APART = {"agent.prompt_file", "agent", "llm", "benchmark_settings", "llm.provider"}


def with_value(path: str, value: Any) -> RunConfig:
    section, _, name = path.rpartition(".")
    content: dict[str, Any] = {**BASE, "llm": dict(BASE["llm"])}
    if section:
        content[section] = {**content.get(section, {}), name: value}
    else:
        content[name] = value
    return load_config(settings=content)[0]


def test_every_field_is_classified() -> None:
    fields = {
        *RunConfig.model_fields,
        *(f"benchmark_settings.{name}" for name in AlfWorldSettings.model_fields),
        *(f"agent.{name}" for name in ("name", *ReActSettings.model_fields)),
        *(f"llm.{name}" for name in ("provider", *OpenAIChat.Settings.model_fields)),
    }
    assert fields == {*DECIDES, *ONLY_OPERATES, *APART}


@pytest.mark.parametrize("path", DECIDES)
def test_what_decides_a_score_changes_the_hash(path: str) -> None:
    changed = with_value(path, DECIDES[path])
    assert changed != load_config(settings=BASE)[0]
    assert changed.config_hash != load_config(settings=BASE)[0].config_hash


@pytest.mark.parametrize("path", ONLY_OPERATES)
def test_what_only_operates_does_not(path: str) -> None:
    changed = with_value(path, ONLY_OPERATES[path])
    assert changed != load_config(settings=BASE)[0]
    assert changed.config_hash == load_config(settings=BASE)[0].config_hash


def test_no_two_of_them_share_a_hash() -> None:
    hashes = [with_value(path, value).config_hash for path, value in DECIDES.items()]
    assert len(set(hashes)) == len(hashes)


def test_having_a_model_changes_the_hash() -> None:
    assert load_config(settings={})[0].config_hash != load_config(settings=BASE)[0].config_hash


def test_it_is_a_prompt_files_content_that_decides(tmp_path: Path) -> None:
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("[user]\n$goal", encoding="utf-8")
    two.write_text("[user]\n$goal", encoding="utf-8")
    hashes = [with_value("agent.prompt_file", file).config_hash for file in (one, two)]
    assert hashes[0] == hashes[1] != load_config(settings=BASE)[0].config_hash
    two.write_text("[user]\n$goal!", encoding="utf-8")
    assert with_value("agent.prompt_file", two).config_hash != hashes[0]


def test_a_prompt_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    config = with_value("agent.prompt_file", tmp_path / "none.txt")
    with pytest.raises(ConfigError, match=r"prompt_file: cannot read .*none\.txt"):
        _ = config.config_hash


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipe is a file on Windows")
def test_a_prompt_file_that_never_ends_or_answers_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for file in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        config = with_value("agent.prompt_file", file)
        with pytest.raises(ConfigError, match=r"prompt_file: cannot read .*: not a regular file"):
            _ = config.config_hash
