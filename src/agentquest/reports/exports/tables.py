"""One row per episode as CSV or Parquet, for spreadsheets, pandas, Polars or DuckDB.

An export states the type of every column: a reader that guesses from the first rows takes a
column that is empty there for one without a type.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from agentquest.extras import MissingExtra
from agentquest.reports.exports import draft_of
from agentquest.reports.render.csv import write_cells
from agentquest.store.stored_run import StoredRun

ExportedRow = Mapping[str, Any]
ColumnType = Literal["bool", "int64", "float64", "string"]
# What is text even where no row has any; other empty columns are figures.
_TEXTS = frozenset({"model", "error"})


def write_csv(run: StoredRun, folder: Path) -> Path:
    """`episodes.csv`; an empty cell is an unknown figure."""
    name, rows = "episodes.csv", run.to_rows()
    with draft_of(folder, name) as draft, draft.open("w", encoding="utf-8", newline="") as output:
        write_cells(output, columns_of(rows), rows)
    return folder / name


def write_parquet(run: StoredRun, folder: Path) -> Path:
    """`episodes.parquet`, with a type for every column."""
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra("parquet", "Parquet", ["pyarrow"]) from None
    kinds = {
        "bool": arrow.bool_(),
        "int64": arrow.int64(),
        "float64": arrow.float64(),
        "string": arrow.string(),
    }
    name, rows = "episodes.parquet", run.to_rows()
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns_of(rows).items()])
    table = arrow.Table.from_pylist(rows, schema=schema)
    with draft_of(folder, name) as draft:
        parquet.write_table(table, str(draft))
    return folder / name


def columns_of(rows: Sequence[ExportedRow]) -> dict[str, ColumnType]:
    """Every column in the order of first appearance, with its kind."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _kind(name, [row.get(name) for row in rows]) for name in names}


def _kind(name: str, values: Sequence[Any]) -> ColumnType:
    types = {type(value) for value in values if value is not None}
    if not types:
        return "string" if name in _TEXTS else "float64"
    if types == {bool}:
        return "bool"
    if types == {int}:
        return "int64"
    return "float64" if types <= {int, float} else "string"
