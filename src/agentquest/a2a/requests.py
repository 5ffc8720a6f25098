"""An assessment request, and the two ways of asking.

The tagged text of the launcher, or `{"participants": …, "config": …}` as
AgentBeats sends it. Anything else is rejected with the reason: a request that
was not understood must never be run with defaults.
"""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from agentquest.a2a.addresses import is_address, without_password
from agentquest.a2a.assessment_config import FIXED, AssessmentConfig
from agentquest.errors import UserError

_TAGS = ("white_agent_url", "env_config")
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
    role: str = "agent"
    warnings: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _password_apart(cls, given: dict[str, Any]) -> dict[str, Any]:
        """A password in the address goes into a header, and nowhere else."""
        url = given.get("agent_url")
        if not isinstance(url, str):
            return given
        if not is_address(url):
            raise ValueError("agent_url is not an address like http://localhost:9002/")
        address = without_password(url)
        return {**given, "agent_url": address.url, "authorization": address.authorization}


class RequestRejected(UserError):
    """A request that was not understood; the text says why."""


def request_text(agent_url: str, config: AssessmentConfig) -> str:
    """The launcher's request: the documented settings, then those that differ from the default."""
    given, benchmark = config.model_dump(mode="json"), config.benchmark_class
    given["max_steps"] = config.max_steps or benchmark.step_limit
    if config.task_types is None:
        given["task_types"] = list(range(1, len(benchmark.task_types) + 1))
    usual = AssessmentConfig().model_dump(mode="json")
    others = sorted(key for key in given if key not in _DOCUMENTED and given[key] != usual[key])
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
    tags = {name: _tag(text, name) for name in _TAGS}
    if any(content is not None for content in tags.values()):
        return _tagged(tags)
    content = _json(text)
    if not isinstance(content, dict) or "participants" not in content:
        raise RequestRejected(
            "not an assessment request: expected <white_agent_url> and <env_config> tags, "
            'or {"participants": {"agent": "<url>"}, "config": {…}}'
        )
    return _of_participants(content)


def _tag(text: str, name: str) -> str | None:
    """The text between the first pair of tags; None if there is none."""
    opening, closing = f"<{name}>", f"</{name}>"
    start = text.find(opening)
    end = text.find(closing, start) if start >= 0 else -1
    return text[start + len(opening) : end].strip() if end >= 0 else None


def _json(text: str) -> Any:
    """None if it is not JSON, or nested too deeply."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _tagged(tags: dict[str, str | None]) -> AssessmentRequest:
    for name, content in tags.items():
        if content is None:
            raise RequestRejected(f"the request has no <{name}> tag")
    config = _json(tags["env_config"] or "")
    if config is None:
        raise RequestRejected("env_config is not JSON")
    return _request(tags["white_agent_url"], "agent", config, "env_config")


def _of_participants(content: dict[str, Any]) -> AssessmentRequest:
    participants = content["participants"]
    if not isinstance(participants, dict) or len(participants) != 1:
        raise RequestRejected("participants must name exactly one agent: {role: url}")
    role, url = next(iter(participants.items()))
    extra = [f"{key}: unknown, ignored" for key in content if key not in _FORM]
    return _request(url, role, content.get("config") or {}, "config", extra)


_FORM = ("participants", "config")


def _request(
    url: Any, role: str, config: Any, where: str, warnings: list[str] | None = None
) -> AssessmentRequest:
    if not isinstance(config, dict):
        raise RequestRejected(f"{where} must be a JSON object, not {type(config).__name__}")
    unknown = [
        f"{where}.{key}: unknown, ignored"
        for key in config
        if key not in AssessmentConfig.model_fields
    ]
    try:
        settings = AssessmentConfig.model_validate(config)
    except ValidationError as error:
        raise RequestRejected(_first_problem(error, where)) from None
    try:
        return AssessmentRequest(
            agent_url=url,
            config=settings,
            role=role,
            warnings=(*(warnings or []), *unknown),
        )
    except ValidationError as error:
        raise RequestRejected(_first_problem(error, "request")) from None


def _first_problem(error: ValidationError, where: str) -> str:
    first = error.errors(include_url=False)[0]
    path = ".".join([where, *map(str, first["loc"])])
    return f"{path}: {first['msg'].removeprefix('Value error, ')}"
