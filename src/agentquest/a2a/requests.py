"""An assessment request, and the two ways to write one.

A request is the tagged text of the launcher, or `{"participants": …, "config": …}`
as AgentBeats sends it. Anything else is rejected with the reason: a request that
was not understood must never run with defaults.
"""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agentquest.a2a.addresses import find_fault, without_password
from agentquest.a2a.config import FIXED, AssessmentConfig
from agentquest.errors import UserError
from agentquest.lib.settings import in_words

# What a requester is told of a green agent's trouble, which may name its files.
OWN_TROUBLE = "the green agent itself failed; its own log says why"
_TAGS = ("white_agent_url", "env_config")
_KEYS = ("participants", "config")
# The launcher always sends these; others only where they differ from their defaults.
_DOCUMENTED = (
    "env_type",
    "train_eval",
    "num_games",
    "max_steps",
    "task_types",
    "coverage_mode",
    "num_games_per_type",
)


class AssessmentRequest(BaseModel):
    """Whom to test and how; `warnings` lists what was ignored."""

    model_config = ConfigDict(frozen=True)

    agent_url: str
    authorization: str | None = Field(default=None, exclude=True, repr=False)
    config: AssessmentConfig
    warnings: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _move_password(cls, given: dict[str, Any]) -> dict[str, Any]:
        """A password in the address goes into a header, and nowhere else."""
        url = given.get("agent_url")
        if not isinstance(url, str):
            return given
        if fault := find_fault(url):
            raise ValueError(f"agent_url {fault}")
        address = without_password(url)
        return {**given, "agent_url": address.url, "authorization": address.authorization}


class RequestRejected(UserError):
    """A request that was not understood; the text says why."""


def write_request(agent_url: str, config: AssessmentConfig) -> str:
    """The launcher's request: the documented settings, then those that differ from the default."""
    given, benchmark = config.model_dump(mode="json"), config.benchmark_class
    given["max_steps"] = config.max_steps or benchmark.step_limit
    if config.task_types is None:
        given["task_types"] = list(range(1, len(benchmark.task_types) + 1))
    defaults = AssessmentConfig().model_dump(mode="json")
    others = sorted(key for key in given if key not in _DOCUMENTED and given[key] != defaults[key])
    # A protocol says itself what is played.
    keys = (*_DOCUMENTED, *others) if config.protocol is None else set(others) - {*FIXED}
    settings = {key: given[key] for key in keys}
    return (
        "\n"
        f"Your task is to run {benchmark.title} assessment to test the agent located at:\n"
        "<white_agent_url>\n"
        f"{agent_url}\n"
        "</white_agent_url>\n"
        "You should use the following env configuration:\n"
        "<env_config>\n"
        f"{json.dumps(settings, indent=2)}\n"
        "</env_config>\n"
        "    "
    )


def parse_request(text: str) -> AssessmentRequest:
    """The request that a message holds, in either form; raises RequestRejected with the reason."""
    tags = {name: _find_tag(text, name) for name in _TAGS}
    if any(content is not None for content in tags.values()):
        return _parse_tags(tags)
    content = _parse_json(text)
    if not isinstance(content, dict) or "participants" not in content:
        raise RequestRejected(
            "not an assessment request: expected <white_agent_url> and <env_config> tags, "
            'or {"participants": {"agent": "<url>"}, "config": {…}}'
        )
    return _parse_participants(content)


def _find_tag(text: str, name: str) -> str | None:
    """The text between the first pair of tags; None if there is none."""
    opening, closing = f"<{name}>", f"</{name}>"
    start = text.find(opening)
    end = text.find(closing, start) if start >= 0 else -1
    return text[start + len(opening) : end].strip() if end >= 0 else None


def _parse_json(text: str) -> Any:
    """None if it is not JSON, or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parse_tags(tags: dict[str, str | None]) -> AssessmentRequest:
    for name, content in tags.items():
        if content is None:
            raise RequestRejected(f"the request has no <{name}> tag")
    config = _parse_json(tags["env_config"] or "")
    if config is None:
        raise RequestRejected("env_config is not JSON")
    return _build_request(tags["white_agent_url"], config, "env_config")


def _parse_participants(content: dict[str, Any]) -> AssessmentRequest:
    participants = content["participants"]
    if not isinstance(participants, dict) or len(participants) != 1:
        raise RequestRejected("participants must name exactly one agent: {role: url}")
    (url,) = participants.values()
    unknown = [f"{key}: unknown, ignored" for key in content if key not in _KEYS]
    return _build_request(url, content.get("config") or {}, "config", unknown)


def _build_request(
    url: Any, config: Any, where: str, warnings: list[str] | None = None
) -> AssessmentRequest:
    if not isinstance(config, dict):
        raise RequestRejected(f"{where} must be a JSON object, not {type(config).__name__}")
    unknown = [
        f"{where}.{key}: unknown, ignored"
        for key in config
        if key not in AssessmentConfig.model_fields
    ]
    try:
        return AssessmentRequest.model_validate(
            {"agent_url": url, "config": config, "warnings": (*(warnings or []), *unknown)}
        )
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        section, *path = first["loc"] or ("",)
        names = [where, *path] if section == "config" else ["request", *first["loc"]]
        place = ".".join(map(str, names))
        raise RequestRejected(f"{place}: {in_words(first['msg'])}") from None
