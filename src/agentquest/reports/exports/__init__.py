"""Runs in the formats of other people's tools."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from agentquest.errors import UserError
from agentquest.files import replace_with_draft
from agentquest.store.stored_run import StoredRun

# The format in a few words, and `module:function` in this folder: what writes a run into a folder
# and returns what it wrote, loaded when it is asked for.
FORMATS = {
    "csv": ("one row per episode", "tables:write_csv"),
    "parquet": ("one row per episode", "tables:write_parquet"),
    "eval": ("a log for Inspect", "inspect_log:write_inspect_log"),
    "inspect": ("the same as eval", "inspect_log:write_inspect_log"),
    "atif": ("one trajectory per episode", "atif:write_atif"),
    "hf": ("a Hugging Face dataset", "hf_dataset:write_hf_dataset"),
}


def export_run(run: StoredRun, name: str, folder: Path) -> Path:
    """Write a run into a folder in the format of this name; returns the file or folder made."""
    module, function = FORMATS[name][1].split(":")
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
