"""One row per episode as CSV or Parquet, for spreadsheets, pandas, Polars or DuckDB."""

import csv
from pathlib import Path

from agentquest.extras import MissingExtra
from agentquest.reports.exports.columns import columns_of
from agentquest.reports.exports.exported import Exported, written
from agentquest.reports.safe_text import csv_text


def write_csv(run: Exported, folder: Path) -> Path:
    """`episodes.csv`; an empty cell is an unknown figure."""
    columns = list(columns_of(run.rows))

    def write(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            writer.writeheader()
            for row in run.rows:
                writer.writerow(
                    {k: csv_text(v) if isinstance(v, str) else v for k, v in row.items()}
                )

    return written(folder / "episodes.csv", write)


def write_parquet(run: Exported, folder: Path) -> Path:
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
    schema = arrow.schema([(name, kinds[kind]) for name, kind in columns_of(run.rows).items()])
    table = arrow.Table.from_pylist([dict(row) for row in run.rows], schema=schema)
    return written(
        folder / "episodes.parquet", lambda draft: parquet.write_table(table, str(draft))
    )
