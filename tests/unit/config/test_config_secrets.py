"""Keys that were typed where they would be written down."""

from pathlib import Path

import pytest

from agentquest.config import load_config
from agentquest.errors import ConfigError

KEY = "sk-very-secret-0123456789abcdef"


def written(folder: Path, content: str) -> Path:
    file = folder / "run.yaml"
    file.write_text(content)
    return file


@pytest.mark.parametrize(
    "content",
    [
        f"model: m\nllm:\n  extra_body: {{api_key: {KEY}}}\n",
        "model: m\nllm:\n  extra_body: {provider: {Authorization: Bearer abc}}\n",
        f"model: {KEY}\n",
        f"model: m\napi_key_env: {KEY}\n",
        "model: m\napi_key_env: gsk_abcDEF1234567890abcDEF\n",
        f"tags: [{KEY}]\n",
        f"run_name: {KEY}\n",
    ],
)
def test_a_key_in_a_field_that_is_written_is_refused_unseen(content: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="would be saved") as error:
        load_config(written(tmp_path, content))
    assert KEY not in str(error.value)
    assert "gsk_" not in str(error.value)


def test_a_key_on_the_command_line_is_warned_of() -> None:
    _, warnings = load_config(None, ["model=m", f"api_key={KEY}"])
    assert any("other users of this machine" in warning for warning in warnings)


@pytest.mark.parametrize(
    "override",
    [
        "llm.max_tokens=100",
        "api_key_env=OPENAI_API_KEY",
        "model=skywork-13b-instruct-0123456789",
        "tags=[keyboard-study-2026]",
        "llm.extra_body={max_completion_tokens: 10}",
    ],
)
def test_what_only_resembles_a_key_is_none(override: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    load_config(None, ["model=m", override])
