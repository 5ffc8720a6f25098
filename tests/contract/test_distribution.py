"""What the index shows: links of the front page that work there, and the project's addresses."""

import re
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="hatchling, which builds the package, is not installed")

ROOT = Path(__file__).resolve().parents[2]


def page(monkeypatch: pytest.MonkeyPatch, home: str | None) -> dict:
    monkeypatch.syspath_prepend(str(ROOT))
    from hatch_build import ProjectPage

    if home is None:
        monkeypatch.delenv("AGENTQUEST_REPOSITORY", raising=False)
    else:
        monkeypatch.setenv("AGENTQUEST_REPOSITORY", home)
    metadata: dict = {}
    ProjectPage(str(ROOT), {}).update(metadata)
    return metadata


def test_a_release_has_absolute_links_to_files_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = page(monkeypatch, "https://example.org/aq/")
    links = re.findall(r"\]\(([^)\s]+)\)", metadata["readme"]["text"])
    ours = [link for link in links if link.startswith("https://example.org/aq/")]
    assert len(ours) > 10
    assert [link for link in links if not link.startswith("https://")] == []
    for link in ours:
        kind, _, path = link.removeprefix("https://example.org/aq/").partition("/HEAD/")
        assert kind == ("raw" if path.endswith((".png", ".svg", ".webp")) else "blob"), link
        assert (ROOT / path).exists(), link
    assert metadata["urls"]["Repository"] == "https://example.org/aq"


def test_without_an_address_the_page_is_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = page(monkeypatch, None)
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata["urls"] == {}
