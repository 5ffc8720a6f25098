"""The base of everything that is written down: frozen, strict, and writable as UTF-8 JSON."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


def writable(value: Any) -> Any:
    """Models and data can hold half a surrogate pair, which no file can: shown as its escape."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {writable(key): writable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [writable(item) for item in value]
    return value


def writable_texts(values: Any) -> Any:
    """Most texts are ASCII, and there are many: those are looked at in one go."""
    if isinstance(values, list) and "".join(map(str, values)).isascii():
        return values
    return writable(values)


Text = Annotated[str, BeforeValidator(writable)]
Texts = Annotated[list[str], BeforeValidator(writable_texts)]


class Record(BaseModel):
    """JSON has no infinity: better refused here than unreadable later."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
