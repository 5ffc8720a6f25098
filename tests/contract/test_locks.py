"""What is installed is what was looked at: files by their hashes, the image by its digest."""

import re
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-core.lock", "agentbeats/requirements.lock")


def pinned(name: str) -> dict[str, str]:
    """Each requirement with its marker, and the rest of its entry: the hashes."""
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text("utf-8").strip())
    return dict(entry.split(" \\\n", 1) for entry in entries)


@pytest.mark.parametrize("name", LOCKS)
def test_every_requirement_has_a_version_and_hashes(name: str) -> None:
    found = pinned(name)
    assert len(found) > 20
    for requirement, hashes in found.items():
        assert re.match(r"[a-z0-9.-]+(\[[a-z,-]+\])?==\S+", requirement), requirement
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", hashes), requirement


@pytest.mark.parametrize("name", LOCKS[1:])
def test_the_smaller_locks_are_parts_of_the_whole(name: str) -> None:
    versions = {entry.split(" ;")[0] for entry in pinned(LOCKS[0])}
    assert {entry.split(" ;")[0] for entry in pinned(name)} <= versions


def test_the_image_stands_on_a_digest() -> None:
    dockerfile = (ROOT / "agentbeats/Dockerfile").read_text("utf-8")
    assert re.search(r"^ARG BASE=python:3\.12-slim@sha256:[0-9a-f]{64}$", dockerfile, re.M)
    assert "--no-deps --require-hashes" in dockerfile
    assert "LOCKED := --no-deps --require-hashes" in (ROOT / "Makefile").read_text("utf-8")


def test_extras_that_are_asked_for_are_pinned_with_their_names() -> None:
    """An older pip takes `coverage[toml]` for a package of its own: unless the lock file names it
    so, the day of the next release of coverage is the day on which nothing can be installed."""
    found = {requirement.split("==")[0] for requirement in pinned(LOCKS[0])}
    names = {name.split("[")[0] for name in found}
    asked = {
        f"{wanted.name}[{extra}]"
        for package in metadata.distributions()
        for wanted in map(Requirement, package.requires or ())
        for extra in wanted.extras
        if {wanted.name, package.metadata["Name"]} <= names
        and (wanted.marker is None or wanted.marker.evaluate({"extra": ""}))
    }
    assert "coverage[toml]" in asked
    assert sorted(asked - found) == []


def test_the_tests_that_security_md_names_exist() -> None:
    named = re.findall(r"`(tests/\S+\.py)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).is_file()] == []
