"""Agent cards in both versions of the protocol, read leniently.

All we need of a card is a name and an address that we can talk to. What else it says of the
agent tells this one from another: a run is never continued with a different agent.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from agentquest.a2a import limits
from agentquest.a2a.addresses import find_fault, is_here, origin_of
from agentquest.records.manifest import AssessedAgent
from agentquest.safe_text import one_line

# The card of an agent that was launched carries the launch's id in this extension.
LAUNCH_EXTENSION = "urn:agentquest:launch"
# That of an agent which asks a model can say which one.
MODEL_EXTENSION = "urn:agentquest:model"
CARD_PATHS = ("/.well-known/agent-card.json", "/.well-known/agent.json")
JSONRPC, HTTP_JSON = "JSONRPC", "HTTP+JSON"
_BINDINGS = (JSONRPC, HTTP_JSON)


@dataclass(frozen=True)
class Interface:
    """One way of talking to an agent; `version` is 1.0 or 0.3."""

    url: str
    binding: str
    version: str


@dataclass(frozen=True)
class Card:
    """What we know of an agent; `interfaces` are those that we support, the best first."""

    agent: AssessedAgent
    interfaces: tuple[Interface, ...]
    streaming: bool
    launch_id: str | None


def card_addresses(url: str) -> list[str]:
    """Where an agent's card may be; `url` is the agent's or that of the card itself."""
    parts = urlsplit(url)
    if parts.path.endswith(".json"):
        return [url]
    base = parts.path.rstrip("/")
    return [urlunsplit(parts._replace(path=base + path, fragment="")) for path in CARD_PATHS]


def agent_address(url: str) -> str:
    """The agent's own address, also where that of its card was given."""
    parts = urlsplit(url)
    for path in CARD_PATHS:
        if parts.path.endswith(path):
            return urlunsplit(parts._replace(path=parts.path.removesuffix(path) + "/"))
    return url


def read_card(content: Any) -> Card:
    """Raises ValueError, with the reason, if it is not a card."""
    if not isinstance(content, dict):
        raise ValueError("it is not a JSON object")
    offered = _interfaces(content)
    if not offered:
        raise ValueError("it names no address")
    supported = [one for one in offered if one.binding in _BINDINGS and not find_fault(one.url)]
    if not supported:
        names = ", ".join(sorted({one.binding for one in offered}))
        raise ValueError(f"it offers no transport that we support (it offers {names[:200]})")
    capabilities = read_object(content.get("capabilities"))
    return Card(
        agent=_describe_agent(content, capabilities),
        # JSON-RPC before HTTP+JSON, and the newer version first.
        interfaces=tuple(
            sorted(supported, key=lambda one: (_BINDINGS.index(one.binding), one.version != "1.0"))
        ),
        streaming=capabilities.get("streaming") is True,
        launch_id=_find_extension(capabilities, LAUNCH_EXTENSION),
    )


def _describe_agent(content: dict[str, Any], capabilities: dict[str, Any]) -> AssessedAgent:
    """The agent's own words, made safe to show."""

    def read(text: str, length: int = limits.MAX_NAME_CHARACTERS) -> str:
        return one_line(text[:length])

    model = _find_extension(capabilities, MODEL_EXTENSION)
    skills = json.dumps(content.get("skills") or [], sort_keys=True)
    return AssessedAgent(
        name=read(_text(content, "name")) or "unnamed agent",
        version=read(_text(content, "version")),
        skills=hashlib.sha256(skills.encode()).hexdigest()[:16],
        model=read(model, limits.MAX_MODEL_NAME_CHARACTERS) if model else None,
    )


def make_reachable(card: Card, url: str) -> Card:
    """Replace addresses that only the agent's own machine understands by that of `url`.

    On this machine, too, an agent may know its own port by another name than we do.
    """
    given = urlsplit(url)

    def replace_place(interface: Interface) -> Interface:
        named = urlsplit(interface.url)
        is_unspecified = named.hostname in ("0.0.0.0", "::")
        is_same_port = origin_of(interface.url)[2] == origin_of(url)[2]
        is_ours = is_here(named) and (is_same_port or not is_here(given))
        if not (is_unspecified or is_ours):
            return interface
        place = (given.scheme, given.netloc, named.path or "/", named.query, "")
        return replace(interface, url=urlunsplit(place))

    return replace(card, interfaces=tuple(map(replace_place, card.interfaces)))


def _interfaces(content: dict[str, Any]) -> list[Interface]:
    """Protocol 1.0 lists them; 0.3 has one address and optional additional interfaces."""
    listed = content.get("supportedInterfaces")
    if isinstance(listed, list):
        return [
            Interface(_text(one, "url"), _text(one, "protocolBinding"), _version(one))
            for one in read_objects(listed)
        ]
    version = _version(content, "0.3")
    given = read_objects(content.get("additionalInterfaces"))
    if content.get("url"):
        binding = _text(content, "preferredTransport") or JSONRPC
        given = [{"url": content["url"], "transport": binding}, *given]
    found = (Interface(_text(one, "url"), _text(one, "transport"), version) for one in given)
    return list(dict.fromkeys(found))


def _version(content: dict[str, Any], default: str = "1.0") -> str:
    named = _text(content, "protocolVersion") or default
    return "0.3" if named.startswith("0.") else "1.0"


def _find_extension(capabilities: dict[str, Any], uri: str) -> str | None:
    for one in read_objects(capabilities.get("extensions")):
        if one.get("uri") == uri:
            return _text(one, "description")
    return None


def read_object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def read_objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; empty ones for what is none, and none where there is no list."""
    return [read_object(one) for one in value] if isinstance(value, list) else []


def _text(content: dict[str, Any], key: str) -> str:
    value = content.get(key)
    return value if isinstance(value, str) else ""
