"""The server's own description of its routes (OpenAPI 3.1), written by hand: it is small."""

from typing import Any

from agentquest.benchmarks.webshop.client import SESSION_HEADER
from agentquest.benchmarks.webshop.serving.requests import MAX_ACTION, MAX_NAME
from agentquest.version import __version__

Schema = dict[str, Any]

_SESSION: Schema = {
    "description": "A name for this client, which keeps its goal; or the number of the goal to"
    " play, by whoever the header, the cookie of /reset or the connection says.",
    "oneOf": [
        {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
        {"type": "integer", "minimum": 0},
    ],
}
_HEADER: Schema = {
    "name": SESSION_HEADER,
    "in": "header",
    "required": False,
    "description": "Names the client, as `session` in the body does. With both, this names the"
    " client and `session` what it plays.",
    "schema": {"type": "string", "minLength": 1, "maxLength": MAX_NAME},
}
_RESET_ANSWER: dict[str, Schema] = {
    "available_actions": {
        "type": "object",
        "required": ["clickables", "has_search_bar"],
        "properties": {
            "clickables": {"type": "array", "items": {"type": "string"}},
            "has_search_bar": {"type": "boolean"},
        },
    },
    "info": {"type": "null"},
    "obs": {"type": "string", "description": "The page as text."},
}
_STEP_ANSWER: dict[str, Schema] = _RESET_ANSWER | {
    "done": {"type": "boolean", "description": "Whether this step bought something."},
    "reward": {"type": "number", "minimum": 0, "maximum": 1},
}
_REFUSALS = {
    "400": "The body cannot be read.",
    "401": "A token is required.",
    "403": "The request comes from another web site, or uses an unknown host name.",
    "413": "The body or the action is too long.",
    "415": "The body does not say that it is JSON.",
    "422": "A field is missing, unknown or not something the shop can do.",
}
_NO_SESSION = {
    "404": "No such session: POST /reset starts it.",
    "409": "No session was started, the client plays another one, or several clients play this"
    " number and the request does not say which it is.",
}


def openapi_document() -> dict[str, Any]:
    """The document that `/openapi.json` serves."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "WebShop",
            "version": __version__,
            "description": "A simulated shop for agents. Requests that name no session share one.",
        },
        "paths": {
            "/": {"get": _operation("Check that the server is up.", {"test": {"const": "okay"}})},
            "/reset": {"post": _reset()},
            "/step": {"post": _step()},
            "/healthz": {
                "get": _operation("What is served, and the number of sessions.", _health())
            },
        },
        "components": {
            "schemas": {
                "Error": _object({"error": {"type": "string"}}),
            }
        },
    }


def _reset() -> dict[str, Any]:
    refusals = _REFUSALS | {"503": "Too many sessions were started and not used."}
    operation = _operation("Start a problem.", _RESET_ANSWER, refusals)
    return operation | {"parameters": [_HEADER], "requestBody": _body({"session": _SESSION}, [])}


def _step() -> dict[str, Any]:
    action = {
        "type": "string",
        "maxLength": MAX_ACTION,
        "description": "search[<query>] or click[<clickable>]; anything else changes nothing.",
    }
    operation = _operation("Carry out an action.", _STEP_ANSWER, _REFUSALS | _NO_SESSION)
    body = _body({"action": action, "session": _SESSION}, ["action"])
    return operation | {"parameters": [_HEADER], "requestBody": body}


def _health() -> dict[str, Schema]:
    return {
        "data_hash": {"type": "string"},
        "goals": {"type": "integer"},
        "goals_kind": {"enum": ["synthetic", "human"]},
        "products": {"type": "integer"},
        "seed": {"type": "integer"},
        "sessions": {"type": "integer"},
        "status": {"const": "ok"},
        "strict": {"type": "boolean"},
        "tagger": {"type": "string"},
    }


def _operation(
    summary: str, answer: dict[str, Schema], refusals: dict[str, str] | None = None
) -> dict[str, Any]:
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    responses: dict[str, Any] = {
        "200": {
            "description": "As asked.",
            "content": {"application/json": {"schema": _object(answer)}},
        }
    }
    for status, description in (refusals or {}).items():
        responses[status] = {"description": description, "content": error}
    return {"summary": summary, "responses": responses}


def _body(properties: dict[str, Schema], required: list[str]) -> dict[str, Any]:
    schema = _object(properties) | {"required": required, "additionalProperties": False}
    return {"required": bool(required), "content": {"application/json": {"schema": schema}}}


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": sorted(properties), "properties": properties}
