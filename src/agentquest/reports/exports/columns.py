"""The columns of episodes as plain rows: all that any row has, and what kind each is.

An export says the kinds itself: a reader that guesses from the first rows takes a column that
is empty there for one without a type.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Row = Mapping[str, Any]
Kind = Literal["bool", "int64", "float64", "string"]
# What is text even where no row has any; other empty columns are figures.
_TEXTS = frozenset({"model", "error"})


def columns_of(rows: Sequence[Row]) -> dict[str, Kind]:
    """Every column in the order of first appearance, with its kind."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _kind(name, [row.get(name) for row in rows]) for name in names}


def _kind(name: str, values: Sequence[Any]) -> Kind:
    types = {type(value) for value in values if value is not None}
    if not types:
        return "string" if name in _TEXTS else "float64"
    if types == {bool}:
        return "bool"
    if types == {int}:
        return "int64"
    return "float64" if types <= {int, float} else "string"
