"""The base of everything that is saved: frozen, strict, and writable as UTF-8 JSON."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler
from pydantic_core import core_schema


def writable(value: Any) -> Any:
    """Models and data can contain half a surrogate pair, which UTF-8 cannot: it is escaped."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {writable(key): writable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [writable(item) for item in value]
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
Texts = list[Text]


class Record(BaseModel):
    """JSON has no infinity: better refused here than unreadable later."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
