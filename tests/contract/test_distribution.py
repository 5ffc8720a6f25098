"""What the index shows: links of the front page that work there, and the project's addresses."""

import re
import shutil
import subprocess
import sys
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
    of_the_host = [link for link in ours if "/HEAD/" not in link]
    assert set(of_the_host) == {f"https://example.org/aq/actions/workflows/ci.yml{end}"
                                for end in ("", "/badge.svg")}  # fmt: skip
    assert (ROOT / ".github/workflows/ci.yml").is_file()
    for link in set(ours) - set(of_the_host):
        kind, _, path = link.removeprefix("https://example.org/aq/").partition("/HEAD/")
        assert kind == ("raw" if path.endswith((".png", ".svg", ".webp")) else "blob"), link
        assert (ROOT / path).exists(), link
    assert metadata["urls"]["Repository"] == "https://example.org/aq"


def test_without_an_address_the_page_is_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = page(monkeypatch, None)
    assert metadata["readme"]["text"] == (ROOT / "README.md").read_text(encoding="utf-8")
    assert metadata["urls"] == {}


def test_what_the_image_copies_is_enough_to_install_it(tmp_path: Path) -> None:
    dockerfile = (ROOT / "agentbeats/Dockerfile").read_text(encoding="utf-8")
    copied = [
        name for line in re.findall(r"^COPY (.+) \S+$", dockerfile, re.M) for name in line.split()
    ]
    for name in copied:
        source, target = ROOT / name, tmp_path / Path(name).name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("dist/agentquest_bench-*.whl"))
