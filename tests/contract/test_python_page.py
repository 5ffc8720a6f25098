"""docs/python.md can be read in a clone: the fields of the main classes are in it."""

import dataclasses
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
        *("summary", "records", "to_rows()", "complete"),
        *("reset(task, split)", "step(command)", "plan()"),
    ]
    assert [name for name in names if f"| `{name}` |" not in page] == []
    for one in (Session, RunResult):
        assert f"### {'RunResult' if one is RunResult else one.__name__}\n" in page


def test_no_example_installs_another_project_s_package() -> None:
    """`agentquest` on the public index is not ours."""
    for file in [*(ROOT / "examples").glob("*.py"), *(ROOT / "docs").glob("*.md")]:
        lines = file.read_text(encoding="utf-8").splitlines()
        wrong = [line for line in lines if line.strip().startswith("pip install agentquest ")]
        assert wrong == [], file.name
