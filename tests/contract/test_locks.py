"""What is installed is what was looked at: files by their hashes, the image by its digest."""

import re
from pathlib import Path

import pytest

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
    assert "--require-hashes" in dockerfile
    assert "--require-hashes --requirement requirements.lock" in (ROOT / "Makefile").read_text()


def test_the_tests_that_security_md_names_exist() -> None:
    named = re.findall(r"`(tests/\S+\.py)`", (ROOT / "SECURITY.md").read_text("utf-8"))
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).is_file()] == []
