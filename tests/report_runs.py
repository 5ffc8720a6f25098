"""Runs for the tests of reports: really played episodes, and records made to do harm."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentquest.agents.scripted import ScriptedAgent
from agentquest.errors import Cause, ModelError
from agentquest.lib import Agent, Answer, Benchmark, Explorer, ModelCall, Observation, Task, Turn
from agentquest.records.episode import Call, EpisodeRecord, Failure, Step
from agentquest.records.messages import Message
from agentquest.records.run_directory import RunDirectory
from agentquest.running.assemble import make_agent, make_benchmark
from agentquest.running.many_episodes import Job, Stage, run_many
from agentquest.running.one_episode import Origin, Rules, versions

NUMBERS = {
    "pick_and_place_simple": 1,
    "look_at_obj_in_light": 2,
    "pick_clean_then_place_in_recep": 3,
    "pick_heat_then_place_in_recep": 4,
    "pick_cool_then_place_in_recep": 5,
    "pick_two_obj_and_place": 6,
}


class TalkingAgent(ScriptedAgent):
    """The scripted agent with the prompts, replies and accounts that a model would leave."""

    def __init__(self, explorer: Explorer, fails: bool = False, muddled: bool = False) -> None:
        super().__init__(explorer)
        self._turn = 0
        self._fails = fails
        self._muddled = muddled

    async def act(self, observation: Observation) -> Answer:
        self._turn += 1
        if self._fails and self._turn > 3:
            raise ModelError("503 from the server, 6 attempts")
        action = (await super().act(observation)).action
        prompt = (
            Turn("system", "You are in a household. Answer with THINK: and ACTION:."),
            Turn("user", f"Goal: {self.episode.goal}\nObservation: {observation.text}"),
        )
        call = ModelCall("tiny-1", "ok", 180 + 40 * self._turn, 23, None, 0.0004, 0.3, 1, False)
        if self._muddled and self._turn % 4 == 0:
            reply = "THINK: I am not sure what to do next, let me think about it for a while."
            return Answer(None, "no action", reply, "", prompt, (call,))
        if self._muddled and self._turn % 7 == 0:
            action = "fly to the moon"
        reply = f"THINK: The next thing that makes sense is {action!r}.\nACTION: {action}"
        return Answer(action, "ACTION line", reply, "I weigh it up.", prompt, (call,))


def homes(each: int = 1) -> tuple[Benchmark, list[Task]]:
    """The built-in homes, `each` games of every type."""
    benchmark = make_benchmark("alfworld", data_path="builtin", split="valid_unseen")
    chosen: dict[str, list[Task]] = {}
    for task in benchmark.tasks():
        chosen.setdefault(task.task_type, []).append(task)
    return benchmark, [task for tasks in chosen.values() for task in tasks[:each]]


def play(
    agent: str, each: int = 1, trials: int = 1, max_steps: int = 30, failing: Sequence[int] = ()
) -> list[EpisodeRecord]:
    """Play; `agent` is a registered one, `talking` or `muddled`. `failing` lose their model."""
    benchmark, tasks = homes(each)
    jobs = [Job(task, trial, 100 * trial) for trial in range(trials) for task in tasks]
    lost = {jobs[position].key for position in failing}
    made: dict[str, EpisodeRecord] = {}

    def new_agent(job: Job) -> Agent:
        if agent in ("talking", "muddled"):
            return TalkingAgent(benchmark.explorer(), job.key in lost, agent == "muddled")
        return make_agent(agent, benchmark)

    async def save(record: EpisodeRecord) -> None:
        made[record.key] = record

    origin = Origin(f"test-{agent}", "c0ffee", versions(), "alfworld", agent, "tiny-1")
    stage = Stage(benchmark.driver, new_agent, Rules(max_steps=max_steps), origin)
    asyncio.run(run_many(jobs, stage, save, parallel=4))
    return [made[job.key] for job in jobs]


def manifest(**changes: Any) -> dict[str, Any]:
    return {
        "run_id": "test-run",
        "created_at": "2026-01-02T03:04:05+00:00",
        "protocol": None,
        "provenance": {"benchmark": "alfworld", "data": "builtin", "split": "valid_unseen"},
        "versions": versions(),
        "model": "tiny-1",
        "agent": "talking",
        "config": {
            "seed": 42,
            "trials": 1,
            "max_steps": 30,
            "agent": {"name": "react", "use_few_shot": True},
            "llm": {"model": "tiny-1", "temperature": 0.3, "max_tokens": 8192},
        },
        "task_type_numbers": NUMBERS,
        **changes,
    }


def saved(
    folder: Path, records: Sequence[EpisodeRecord], content: dict[str, Any] | None = None
) -> RunDirectory:
    """A run directory as the runner leaves it."""
    run = RunDirectory(folder)
    run.create("benchmark: alfworld\n", manifest() if content is None else content)
    with run.locked() as log:
        for record in records:
            log.append(record)
    return run


def record(
    task: str = "task-1",
    end: Cause = Cause.WON,
    steps: Sequence[Step] | int = 2,
    **changes: Any,
) -> EpisodeRecord:
    """A record made by hand, for figures computed by hand."""
    trial = changes.pop("trial", 0)
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
        "dialect": "0.4",
        "goal": "put some book on sidetable",
        "agent": "react",
        "model": "tiny-1",
        "config_hash": "c0ffee",
        "versions": {"agentquest": "0"},
        "max_steps": 30,
        "first_observation": "You are in a room.",
        "steps": [step(i + 1) for i in range(steps)] if isinstance(steps, int) else list(steps),
        "end": end,
        "success": end is Cause.WON,
        "reward": float(end is Cause.WON),
        "progress": float(end is Cause.WON),
        "repetition_rate": 0.0,
        "started_at": "2026-01-02T03:04:05+00:00",
        "seconds": 1.5,
    }
    return EpisodeRecord(**{**fields, **changes})


def step(index: int, **changes: Any) -> Step:
    fields: dict[str, Any] = {
        "index": index,
        "action": f"go to shelf {index}",
        "how": "ACTION line",
        "valid": True,
        "observation": f"You arrive at shelf {index}.",
        "progress": 0.0,
    }
    return Step(**{**fields, **changes})


HARM = (
    "</pre></details><script>document.title='owned'</script>"
    '<img src=https://example.invalid/x.png onerror="alert(1)"> \' " & <!-- ]]> '
    "<a href='javascript:alert(2)' onclick=alert(3)>x</a> | `*_[md](https://example.invalid)\x1b[31m"
    "\x00\u202e\u2028 end"
)


def hostile() -> list[EpisodeRecord]:
    """Everything a model, a data file or a configuration can fill in, filled in with harm."""
    call = Call(model=HARM, kind=HARM, prompt_tokens=None, completion_tokens=None)
    bad = step(
        1,
        prompt=[Message(role=HARM, content=HARM), Message(role="user", content=HARM)],
        reply=HARM + "\nand more",
        reasoning=HARM,
        action=HARM,
        how=HARM,
        valid=False,
        observation=HARM,
        admissible=[HARM, HARM],
        reachable=False,
        progress=0.5,
        calls=[call],
    )
    unread = step(2, action=None, reply="x" * 300_000, valid=False, observation=HARM)
    names = dict.fromkeys(
        ("task_type", "split", "problem", "data_hash", "dialect", "goal", "agent", "model"), HARM
    )
    return [
        record(
            "harm",
            Cause.MAX_STEPS,
            [bad, unread],
            **names,
            first_observation=HARM,
            first_admissible=[HARM],
            milestones=[HARM],
            details={HARM: HARM},
            versions={HARM: HARM},
            config_hash=HARM,
            started_at=HARM,
            progress=0.5,
        ),
        record(HARM, Cause.MODEL_ERROR, 0, error=Failure(kind=HARM, message=HARM)),
        record("no-steps", Cause.LOST, 0, goal=""),
    ]


def hostile_manifest() -> dict[str, Any]:
    return manifest(
        run_id=HARM,
        created_at=HARM,
        protocol=HARM,
        model={"name": HARM},
        agent=HARM,
        comparable_with=[{"source": HARM, "setting": HARM, "score": {HARM: HARM}}],
        provenance=dict.fromkeys(("benchmark", "data", "split", "dialect"), HARM),
        versions={HARM: HARM},
        config={HARM: HARM, "trials": 1},
    )
