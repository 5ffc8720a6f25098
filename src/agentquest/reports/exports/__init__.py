"""Runs in the formats of other people's tools.

A format is a row of the table: the function that writes a run into a folder and returns what
it wrote, loaded when it is asked for, and what the format is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from agentquest.errors import UserError
from agentquest.files import replace_with_draft
from agentquest.store.stored_run import StoredRun


class ExportFormat(NamedTuple):
    """`module:function` in this folder, and the format in a few words."""

    writer: str
    meaning: str


FORMATS = {
    "csv": ExportFormat("tables:write_csv", "one row per episode"),
    "parquet": ExportFormat("tables:write_parquet", "one row per episode"),
    "eval": ExportFormat("inspect_log:write_inspect_log", "a log for Inspect"),
    "inspect": ExportFormat("inspect_log:write_inspect_log", "the same as eval"),
    "atif": ExportFormat("atif:write_atif", "one trajectory per episode"),
    "hf": ExportFormat("hf_dataset:write_hf_dataset", "a Hugging Face dataset"),
}


def export_run(run: StoredRun, name: str, folder: Path) -> Path:
    """Write a run into a folder in the format of this name; returns the file or folder made."""
    module, function = FORMATS[name].writer.split(":")
    written: Path = getattr(import_module(f"{__name__}.{module}"), function)(run, folder)
    return written


@contextmanager
def draft_of(folder: Path, name: str) -> Iterator[Path]:
    """A draft that becomes the file of this name when it is complete. `folder` may be a run of
    anybody's: no link below it is followed."""
    file = folder / name
    links = [inner for inner in file.parents[: name.count("/")] if inner.is_symlink()]
    if links:
        raise UserError(f"cannot write {file}: {links[0]} is a link, which may lead anywhere")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replace_with_draft(file, sync=False) as draft:
            yield draft
    except FileExistsError as error:  # a file is where the folder would be
        raise UserError(f"cannot write {file}: Not a directory") from error
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from error
