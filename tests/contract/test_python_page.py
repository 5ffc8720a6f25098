"""docs/python.md can be read in a clone: the fields of the main classes are in it."""

import dataclasses
import re
import runpy
from pathlib import Path

from agentquest.api import RunResult
from agentquest.lib import Answer, Episode, Observation, Session, Turn
from agentquest.records.episode import EpisodeRecord

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"


def test_the_page_is_as_the_code_is() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "site" / "fields.py"))
    page = PAGE.read_text(encoding="utf-8")
    assert made["fill_in"](page) == page, "run python docs/site/fields.py"


def test_every_field_is_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    names = [
        *(
            field.name
            for one in (Answer, Observation, Episode)
            for field in dataclasses.fields(one)
        ),
        *Turn._fields,
        *EpisodeRecord.model_fields,
        *("summary", "records", "to_rows()", "complete", "path", "manifest", "sessions"),
        *("reset(task, split)", "step(command)", "plan()"),
    ]
    assert [name for name in names if f"| `{name}` |" not in page] == []
    for one in (Session, RunResult):
        assert f"### {'RunResult' if one is RunResult else one.__name__}\n" in page


def test_no_page_or_example_installs_another_project_s_package() -> None:
    """`agentquest` on the public index is not ours; older pips want a host in an address."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for file in [*(ROOT / "examples").glob("*.py"), *pages]:
        text = file.read_text(encoding="utf-8")
        assert re.findall(r"^ *(?:\$ )?pip install agentquest .*", text, re.MULTILINE) == [], (
            file.name
        )
        assert " @ git+file:///" not in text, file.name
