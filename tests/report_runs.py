"""Runs for the tests of reports: really played episodes, and records made to do harm."""

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentquest.agents.baselines import ScriptedAgent, ScriptedSettings
from agentquest.errors import ModelError
from agentquest.lib import Answer, Benchmark, Explorer, Observation, Task
from agentquest.metrics.rows import EpisodeRow, keep_newest, row_of
from agentquest.metrics.table import Metric
from agentquest.records.episode import Call, EpisodeRecord, Failure, Step
from agentquest.records.manifest import Manifest, Provenance, PublishedScore
from agentquest.records.messages import Message, Usage
from agentquest.records.outcome import AgentFaults, End, is_scored
from agentquest.running.factory import Resources, make_benchmark
from agentquest.running.play import play as play_spec
from agentquest.running.spec import Choice, EpisodeSpec, RunContext, versions
from agentquest.store.folder import RunFolder

TYPES = [
    "pick_and_place_simple",
    "look_at_obj_in_light",
    "pick_clean_then_place_in_recep",
    "pick_heat_then_place_in_recep",
    "pick_cool_then_place_in_recep",
    "pick_two_obj_and_place",
]
WORDS = Metric("words", "words", "words", "average words said", lambda one: float(len(one.goal)))
BUILT_IN = {"data_path": "builtin", "split": "valid_unseen"}


def rows_of(records: Iterable[EpisodeRecord], table: Sequence[Metric]) -> list[EpisodeRow]:
    """The newest row of each episode, in the order in which they first finished."""
    newest: dict[str, EpisodeRow] = {}
    for record in records:
        keep_newest(newest, row_of(record, table))
    return list(newest.values())


class TalkingSettings(ScriptedSettings):
    muddled: bool = False
    failing: tuple[int, ...] = ()
    """Seeds of the episodes that lose their model."""


class TalkingAgent(ScriptedAgent):
    """The scripted agent with the prompts, replies and accounts that a model would leave."""

    Settings = TalkingSettings

    def __init__(self, settings: TalkingSettings, explorer: Explorer) -> None:
        super().__init__(settings, explorer)
        self._settings = settings
        self._turn = 0

    async def act(self, observation: Observation) -> Answer:
        self._turn += 1
        if self.episode.seed in self._settings.failing and self._turn > 3:
            raise ModelError("503 from the server, 6 attempts")
        action = (await super().act(observation)).action
        prompt = (
            Message(role="system", content="You are in a household. Answer with ACTION:."),
            Message(
                role="user", content=f"Goal: {self.episode.goal}\nObservation: {observation.text}"
            ),
        )
        usage = Usage(prompt_tokens=180 + 40 * self._turn, completion_tokens=23)
        calls = (Call(model="tiny-1", kind="complete", usage=usage, cost=0.0004, latency_s=0.3),)
        if self._settings.muddled and self._turn % 4 == 0:
            reply = "THINK: I am not sure what to do next, let me think about it for a while."
            return Answer(None, "missing", reply, prompt=prompt, calls=calls)
        if self._settings.muddled and self._turn % 7 == 0:
            action = "fly to the moon"
        reply = f"THINK: The next thing that makes sense is {action!r}.\nACTION: {action}"
        return Answer(action, "exact", reply, "I weigh it up.", prompt, calls=calls)


def homes(each: int = 1) -> tuple[Benchmark, list[Task]]:
    """The built-in homes, `each` games of every type."""
    benchmark = make_benchmark("alfworld", BUILT_IN)
    chosen: dict[str, list[Task]] = {}
    for task in benchmark.tasks():
        chosen.setdefault(task.task_type, []).append(task)
    return benchmark, [task for tasks in chosen.values() for task in tasks[:each]]


def play(
    agent: str, each: int = 1, trials: int = 1, max_steps: int = 30, failing: Sequence[int] = ()
) -> list[EpisodeRecord]:
    """Play; `agent` is a registered one, `talking` or `muddled`. `failing` lose their model."""
    benchmark, tasks = homes(each)
    chosen = Choice(agent)
    if agent in ("talking", "muddled"):
        settings = {"muddled": agent == "muddled", "failing": tuple(failing)}
        chosen = Choice("report_runs:TalkingAgent", settings)
    context = RunContext(
        run_id=f"test-{agent}",
        config_hash="c0ffee",
        benchmark=Choice("alfworld", BUILT_IN),
        agent=chosen,
        model_name="tiny-1",
        max_steps=max_steps,
    )
    pairs = [(task, trial) for trial in range(trials) for task in tasks]
    specs = [EpisodeSpec(context, *pair, seed) for seed, pair in enumerate(pairs)]

    async def all_of_them() -> list[EpisodeRecord]:
        resources = Resources(context, benchmark)
        return [await play_spec(spec, resources) for spec in specs]

    return asyncio.run(all_of_them())


def manifest(**changes: Any) -> Manifest:
    fields: dict[str, Any] = {
        "run_id": "test-run",
        "created_at": "2026-01-02T03:04:05+00:00",
        "benchmark": "alfworld",
        "benchmark_title": "ALFWorld",
        "provenance": Provenance(data="builtin", split="valid_unseen"),
        "agent": "talking",
        "model": "tiny-1",
        "agent_faults": AgentFaults.OWE,
        "max_steps": 30,
        "trials": 1,
        "task_types": TYPES,
        "task_ids": [],
        "versions": versions(),
        "config_hash": "c0ffee",
        "data_hash": "da7a",
        "config": {
            "seed": 42,
            "agent": {"name": "react", "use_few_shot": True},
            "llm": {"model": "tiny-1", "temperature": 0.3, "max_tokens": 8192},
        },
    }
    return Manifest(**{**fields, **changes})


def saved(
    folder: Path, records: Sequence[EpisodeRecord], content: Manifest | None = None
) -> RunFolder:
    """A run directory as the runner leaves it."""
    run = RunFolder(folder)
    run.create("benchmark: alfworld\n", manifest() if content is None else content)
    with run.lock() as log:
        for record in records:
            log.append(record)
    return run


def record(
    task: str = "task-1",
    end: End = End.SOLVED,
    steps: Sequence[Step] | int = 2,
    **changes: Any,
) -> EpisodeRecord:
    """A record made by hand, for figures computed by hand."""
    trial = changes.pop("trial", 0)
    solved = end is End.SOLVED
    fields: dict[str, Any] = {
        "run_id": "hand",
        "key": f"{task}#{trial}",
        "benchmark": "alfworld",
        "task_id": task,
        "task_type": "pick_and_place_simple",
        "split": "valid_unseen",
        "trial": trial,
        "seed": 1,
        "problem": f"{task}/game.tw-pddl",
        "data_hash": f"hash of {task}",
        "facts": {"dialect": "0.4"},
        "goal": "put some book on sidetable",
        "agent": "react",
        "model": "tiny-1",
        "config_hash": "c0ffee",
        "versions": {"agentquest": "0"},
        "max_steps": 30,
        "first_observation": "You are in a room.",
        "steps": [step(i + 1) for i in range(steps)] if isinstance(steps, int) else list(steps),
        "end": end,
        "scored": is_scored(end, changes.pop("agent_faults", AgentFaults.OWE)),
        "success": solved,
        "reward": float(solved),
        "progress": float(solved),
        "repetition_rate": 0.0,
        "started_at": "2026-01-02T03:04:05+00:00",
        "seconds": 1.5,
    }
    return EpisodeRecord(**{**fields, **changes})


def step(index: int, **changes: Any) -> Step:
    fields: dict[str, Any] = {
        "index": index,
        "action": f"go to shelf {index}",
        "how": "exact",
        "valid": True,
        "observation": f"You arrive at shelf {index}.",
        "progress": 0.0,
    }
    return Step(**{**fields, **changes})


HARM = (
    "</pre></details><script>document.title='owned'</script>"
    '<img src=https://example.invalid/x.png onerror="alert(1)"> \' " & <!-- ]]> '
    "<a href='javascript:alert(2)' onclick=alert(3)>x</a> | `*_[md](https://example.invalid)\x1b[31m"
    "\x00\u202e\u2028\xad\U000e0041 end"
)


def hostile() -> list[EpisodeRecord]:
    """Everything a model, a data file or a configuration can fill in, filled in with harm."""
    bad = step(
        1,
        prompt=[0, 1],
        reply=HARM + "\nand more",
        reasoning=HARM,
        action=HARM,
        how=HARM,
        valid=False,
        observation=HARM,
        admissible=[HARM, HARM],
        reachable=False,
        progress=0.5,
        calls=[Call(model=HARM, kind=HARM)],
    )
    unread = step(2, action=None, reply="x" * 300_000, valid=False, observation=HARM)
    names = dict.fromkeys(
        ("task_type", "split", "problem", "data_hash", "goal", "agent", "model"), HARM
    )
    return [
        record(
            "harm",
            End.STEP_LIMIT,
            [bad, unread],
            **names,
            messages=[Message(role=HARM, content=HARM), Message(role="user", content=HARM)],
            facts={HARM: HARM},
            first_observation=HARM,
            first_admissible=[HARM],
            milestones=[HARM],
            details={HARM: HARM},
            versions={HARM: HARM},
            config_hash=HARM,
            started_at=HARM,
            progress=0.5,
        ),
        record(
            HARM,
            End.INFRASTRUCTURE_FAULT,
            0,
            error=Failure(source="model", kind=HARM, message=HARM),
        ),
        record("no-steps", End.FAILED, 0, goal=""),
    ]


def hostile_manifest() -> Manifest:
    return manifest(
        run_id=HARM,
        created_at=HARM,
        benchmark=HARM,
        benchmark_title=HARM,
        protocol=HARM,
        model=HARM,
        agent=HARM,
        comparable_with=[PublishedScore(source=HARM, setting=HARM, scores={HARM: 1.0})],
        provenance=Provenance(data=HARM, data_path=HARM, split=HARM, details={HARM: HARM}),
        versions={HARM: HARM},
        config={HARM: HARM},
        tags=[HARM],
    )
