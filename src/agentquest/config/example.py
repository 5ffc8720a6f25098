"""A commented example configuration, generated from the settings, so never out of date."""

import textwrap
from collections.abc import Mapping
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from agentquest import registry
from agentquest.config.settings import (
    DEFAULT_AGENT,
    DEFAULT_BENCHMARK,
    ExecutorSection,
    ModelSection,
    RunConfig,
    settings_model,
)
from agentquest.lib.settings import describe_fields
from agentquest.protocols import all_protocols

_MODEL_EXAMPLE: dict[str, Any] = {
    "model": "qwen/qwen3-8b",
    "base_url": "https://openrouter.ai/api/v1",
    "api_key_env": "OPENROUTER_API_KEY",
}
_NOT_FOR_FILES = frozenset({"api_key"})


def example_config() -> str:
    """YAML with every key, its meaning and its default."""
    lines = [
        "# AgentQuest run configuration. Every key is optional; these are the defaults.",
        "# Run it:  agentquest eval -c THIS_FILE [key.path=value ...]",
        "# To test a model, uncomment `llm` and fill in its first lines.",
        "",
    ]
    texts = describe_fields(RunConfig)
    for name, field in RunConfig.model_fields.items():
        lines += _comment(texts[name])
        if name == "protocol":
            lines += _comment(f"There are: {', '.join(all_protocols())}; see docs/protocols.md.")
        if name == "benchmark_settings":
            model = settings_model("benchmark", DEFAULT_BENCHMARK)
            found = registry.load("benchmark", DEFAULT_BENCHMARK)
            choices = {
                "split": ", ".join(found.splits),
                "task_types": ", ".join(f"{n}={t}" for n, t in enumerate(found.task_types, 1)),
            }
            section = _section(model, {}, commented=False, choices=choices)
            lines += ["benchmark_settings:", *section]
        elif name == "agent":
            model = settings_model("agent", DEFAULT_AGENT)
            lines += ["agent:", f"  name: {DEFAULT_AGENT}", *_section(model, {}, commented=False)]
        elif name == "llm":
            provider = ModelSection.model_fields["provider"].default
            model = settings_model("model", provider)
            lines += ["# llm:", f"#   provider: {provider}"]
            lines += _section(model, _MODEL_EXAMPLE, commented=True)
        elif name == "executor":
            lines.append(_entry(name, ExecutorSection().name))
        else:
            lines.append(_entry(name, field.get_default(call_default_factory=True)))
        lines.append("")
    return "\n".join(lines)


def _section(
    model: type[BaseModel],
    shown: dict[str, Any],
    commented: bool,
    choices: Mapping[str, str] | None = None,
) -> list[str]:
    lines, texts = [], describe_fields(model)
    for name, field in model.model_fields.items():
        if name in _NOT_FOR_FILES:
            continue
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        block = [
            *_comment(texts[name]),
            *(_comment(f"There are: {choices[name]}.") if choices and name in choices else []),
            _entry(name, shown.get(name, default)),
        ]
        lines += [f"{'# ' if commented else ''}  {line}" for line in block]
    return lines


def _comment(text: str) -> list[str]:
    plain = " ".join(text.split())
    return [f"# {line}" for line in textwrap.wrap(plain, 90, break_on_hyphens=False)]


def _entry(name: str, value: Any) -> str:
    plain = to_jsonable_python(value)
    shown = yaml.safe_dump(plain, default_flow_style=True, width=1000).splitlines()[0]
    return f"{name}: {shown}"
