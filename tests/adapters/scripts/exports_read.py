"""What pyarrow and datasets make of an export: `exports_read.py PARQUET FOLDER`, said as JSON."""

import json
import sys

import datasets
import pyarrow.parquet

table = pyarrow.parquet.read_table(sys.argv[1])
loaded = datasets.load_dataset(sys.argv[2])
(split,) = loaded
print(
    json.dumps(
        {
            "parquet": {
                name: str(kind)
                for name, kind in zip(table.column_names, table.schema.types, strict=True)
            },
            "rows": table.to_pylist(),
            "split": split,
            "episodes": loaded[split].to_list(),
            "kinds": {name: str(kind) for name, kind in loaded[split].features.items()},
        }
    )
)
