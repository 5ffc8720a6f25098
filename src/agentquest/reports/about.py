"""What a run was: the facts a number cannot be read without.

The manifest says what was asked for, the records what was played; where the
manifest is silent the records speak, and several values are all shown.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agentquest.records.episode import EpisodeRecord


class Fact(NamedTuple):
    name: str
    value: str


def about(records: Sequence[EpisodeRecord], manifest: Mapping[str, Any]) -> tuple[Fact, ...]:
    """The header of a report; facts nobody knows are left out."""
    origin = _section(manifest, "provenance")
    versions = _section(manifest, "versions") or (records[0].versions if records else {})
    facts = (
        ("benchmark", plain(origin.get("benchmark")) or _seen(records, lambda r: r.benchmark)),
        ("data", plain(origin.get("data"))),
        ("data path", plain(origin.get("data_path"))),
        ("goals", plain(origin.get("goals"))),
        ("noun tagger", plain(origin.get("nouns"))),
        ("split", plain(origin.get("split")) or _seen(records, lambda r: r.split)),
        ("dialect", _seen(records, lambda r: r.dialect) or plain(origin.get("dialect"))),
        ("protocol", plain(manifest.get("protocol")) or "none (settings of its own)"),
        ("agent", plain(manifest.get("agent")) or _seen(records, lambda r: r.agent)),
        ("model", plain(manifest.get("model")) or _seen(records, lambda r: r.model) or "none"),
        ("max steps", _seen(records, lambda r: r.max_steps)),
        ("tasks", str(len({record.task_id for record in records}))),
        ("trials a task", plain(_section(manifest, "config").get("trials"))),
        ("started", plain(manifest.get("created_at"))),
        ("versions", ", ".join(f"{name} {plain(value)}" for name, value in versions.items())),
    )
    return tuple(Fact(name, value) for name, value in facts if value)


def comparable(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """The published scores that the run's protocol can be set beside, one line each."""
    published = manifest.get("comparable_with") or ()
    return tuple(
        f"{plain(entry.get('source'))} ({plain(entry.get('setting'))}): {_score(entry)}"
        for entry in published
        if isinstance(entry, Mapping)
    )


def plain(value: Any) -> str:
    """A value of a manifest as a reader would write it; nothing for nothing."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        name = value.get("name") or value.get("model")
        return str(name) if name else json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    return str(value)


def _score(entry: Mapping[str, Any]) -> str:
    score = entry.get("score", entry.get("scores"))
    if isinstance(score, Mapping):
        return ", ".join(f"{name} {plain(value)}" for name, value in score.items())
    return plain(score) or "no score given"


def _section(manifest: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = manifest.get(name)
    return section if isinstance(section, Mapping) else {}


def _seen(records: Iterable[EpisodeRecord], value: Callable[[EpisodeRecord], Any]) -> str:
    found = dict.fromkeys(value(record) for record in records)
    return ", ".join(str(one) for one in found if one not in (None, ""))
