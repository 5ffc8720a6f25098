"""Benchmarks whose tasks are made from their names: a hundred of each type in every split."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from agentquest.errors import UnknownName
from agentquest.lib.benchmark import Benchmark
from agentquest.lib.settings import suggestion
from agentquest.lib.types import Task
from agentquest.records.manifest import Provenance
from agentquest.words import slug

TEST, DEV, TRAIN = SPLITS = ("test", "dev", "train")
PER_TYPE = 100


class GeneratedBenchmark(Benchmark):
    """`generator` names, in records, the code that makes a task from its type, split and place."""

    generator: ClassVar[str]
    split_aliases: ClassVar[Mapping[str, str]] = {
        "eval_out_of_distribution": TEST,
        "eval_in_distribution": DEV,
    }

    def __init_subclass__(cls) -> None:
        cls.splits = dict.fromkeys(SPLITS, PER_TYPE * len(cls.task_types))

    def tasks(self) -> list[Task]:
        return [
            Task(name := f"{self.split}/{slug(kind)}/{place:03d}", kind, self.split, name)
            for kind in self.wanted_types
            for place in range(PER_TYPE)
        ]

    def provenance(self) -> Provenance:
        return Provenance(data="generated", split=self.split, details={"generator": self.generator})


def check_names(kind: str, kinds: Sequence[str], split: str) -> None:
    """Raise UnknownName, with a suggestion, for a type or a split that there is none of."""
    for name, known in ((kind, kinds), (split, SPLITS)):
        if name not in known:
            raise UnknownName(f"unknown category or split {name!r}; {suggestion(name, known)}")
