"""The base of everything that is saved: frozen, strict, and writable as UTF-8 JSON."""

import json
import zlib
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    PlainSerializer,
    ValidationError,
)
from pydantic_core import core_schema, to_jsonable_python

_LARGEST = 10**300
# Levels of nesting in what others give us to record. Readers of JSON stop at 200.
DEEPEST = 64
MOST_FACTS, LONGEST_FACT, MOST_PARTS = 100, 1000, 1_000_000
_MOST_ERRORS = 1000


def writable(value: Any, levels: int = DEEPEST) -> Any:
    """The value as JSON in UTF-8 can hold it.

    Models and data can contain half a surrogate pair, which UTF-8 cannot: it is escaped. What
    is nested so deeply that no reader would follow is left out, and what JSON has no form for
    is described in words: a benchmark of the user's own may record anything.
    """
    if isinstance(value, str):
        is_plain = value.isascii()
        return value if is_plain else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _LARGEST else "(too large a number)"
    if not levels:
        return "(nested too deeply)"
    if isinstance(value, dict):
        return {writable(str(key)): writable(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [writable(item, levels - 1) for item in value]
    if isinstance(value, bytes | bytearray):
        return value.decode("utf-8", "backslashreplace")
    try:
        plain = to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")
    except Exception:  # of an object of the user's own, in its own code
        return f"(a {type(value).__name__})"
    return writable(plain, levels - 1)


def shorten(value: Any, longest: int, name: str = "") -> Any:
    """Plain data whose texts have at most so many characters, with a mark where one was cut.

    The mark has a checksum, so that different texts stay different: repetition is a figure. What
    has a form of its own is left out as a whole, and of very many calls the first are kept.
    """
    if isinstance(value, str) and len(value) > longest:
        rest = value[longest:]
        return (
            f"{value[:longest]}… ({len(rest):,} more characters, {zlib.crc32(rest.encode()):08x})"
        )
    if name in ("details", "opaque", "parameters") and (size := len(json.dumps(value))) > longest:
        return {"left_out": f"{size:,} characters"}
    if isinstance(value, dict):
        return {key: shorten(item, longest, key) for key, item in value.items()}
    if isinstance(value, list):
        few = longest // 1000 if name == "tool_calls" else len(value)
        more = {"id": "", "name": f"({len(value) - few:,} more calls)", "arguments": ""}
        return [shorten(item, longest) for item in value[:few]] + [more] * (len(value) > few)
    return value


def _read_anything(value: Any) -> Any:
    """The value as JSON can hold it, unless it has more parts than anybody could look through."""
    parts = [value]
    for part in parts:
        if isinstance(part, dict | list | tuple):
            if len(parts) + len(part) > MOST_PARTS:
                return {"left_out": f"more than {MOST_PARTS:,} values"}
            parts += part.values() if isinstance(part, dict) else part
    return writable(value)


def check_nesting(value: Any, levels: int = DEEPEST) -> Any:
    """The same value; a `ValueError` if it is nested more deeply than a record can be."""
    if isinstance(value, dict | list | tuple):
        if not levels:
            raise ValueError(f"it is nested more than {DEEPEST} levels deep")
        for item in value.values() if isinstance(value, dict) else value:
            check_nesting(item, levels - 1)
    return value


class _Writable:
    """Text is taken as it is, without a detour through Python, unless it cannot be written."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        # Having a limit, it looks into the text, and finds what is not Unicode.
        plain = core_schema.str_schema(min_length=0)
        return core_schema.union_schema(
            [plain, core_schema.no_info_before_validator_function(writable, plain)],
            mode="left_to_right",
            custom_error_type="string_type",
            serialization=core_schema.simple_ser_schema("str"),
        )


Text = Annotated[str, _Writable()]


class _StopAtFirst:
    """To complain of millions of wrong items takes all memory."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return {**handler(source), "fail_fast": True}


T = TypeVar("T")
STOP_AT_FIRST = _StopAtFirst()
Many = Annotated[list[T], STOP_AT_FIRST]
Texts = Many[Text]


def _describe_facts(facts: Any) -> Any:
    """Facts are short texts, as every row repeats them; what a benchmark gives in another form is
    written as one."""
    if not isinstance(facts, dict):
        return facts
    few = list(facts.items())[:MOST_FACTS]
    return {
        writable(_cut(str(name))): _cut(one if isinstance(one, str) else str(writable(one)))
        for name, one in few
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1]}…"


Facts = Annotated[dict[str, Text], BeforeValidator(_describe_facts)]
Anything = Annotated[dict[str, Any], BeforeValidator(_read_anything)]
# What a provider wants back as it came: kept exactly, and escaped only where it is written.
Opaque = Annotated[
    dict[str, Any], BeforeValidator(check_nesting), PlainSerializer(writable, when_used="json")
]


class Record(BaseModel):
    """JSON has no infinity: better refused here than unreadable later."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def explain_invalid(content: bytes, error: ValidationError, where: str, expected: int) -> str:
    """Says so if the file has another schema; otherwise names the first wrong field."""
    version = read_version(content)
    if version is not None and version != expected:
        return f"{where}: written with schema {version}, but this AgentQuest reads {expected}"
    if error.error_count() > _MOST_ERRORS:
        return f"{where}: {error.error_count():,} fields are wrong"
    first = error.errors()[0]
    path = ".".join(map(str, first["loc"])) or "line"
    return f"{where}: {path}: {first['msg']}"


class _Versioned(BaseModel):
    schema_version: int | None = None


def read_version(content: bytes) -> int | None:
    """The schema that a record says it has; None if it says none."""
    try:
        return _Versioned.model_validate_json(content).schema_version
    except ValidationError:
        return None
