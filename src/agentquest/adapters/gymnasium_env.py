"""Gymnasium environments of every benchmark and split.

    import gymnasium
    import agentquest.adapters.gymnasium_env      # registers the ids

    env = gymnasium.make("agentquest/alfworld-v0", split="train")
    observation, info = env.reset(seed=1)         # or options={"task": id or place}

A won game is `terminated`, the step limit is `truncated`. A reset without a task
draws one with the environment's own generator.

    envs = gymnasium.make_vec("agentquest/alfworld-v0", num_envs=256, split="train",
                              autoreset_mode="Disabled", group_n=8)

is a native vector: thousands of games in this process. `autoreset_mode` is one of
Gymnasium's three and stands in `metadata`. With `Disabled`, which is what training with
masks wants, a slot that is over repeats its last turn until
`reset(options={"reset_mask": …})`. `group_n` slots in a row are given the same task.
"""

import multiprocessing
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Text
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import (
    batch_space,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)
from numpy.typing import NDArray

from agentquest import registry
from agentquest.adapters.arenas import shared_arena
from agentquest.errors import UserError
from agentquest.lib import Session, SessionVector
from agentquest.lib.vector import check_commands

LONGEST_OBSERVATION = 1_000_000
LONGEST_ACTION = 10_000
_SAMPLED = 24
Flags = NDArray[np.bool_]
Observations = tuple[str, ...]
_LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789[]"


class AnyText(Text):
    """Every text up to a length, as titles of products hold any character.

    A sample is short, and no command that means anything.
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_LETTERS, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        length = int(self.np_random.integers(1, _SAMPLED))
        return "".join(self.np_random.choice(list(_LETTERS), size=length))

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"


class SharedTexts(Sequence[str]):
    """Texts in memory that processes share, read anew whenever they are asked for.

    Gymnasium's AsyncVectorEnv keeps one of these and returns a copy of it after every step.
    Each text is its length and its bytes in UTF-8: observations may hold any character,
    where Gymnasium's own way knows those of a list.
    """

    _LENGTH = 4

    def __init__(self, shared: Any, count: int, longest: int) -> None:
        self._bytes = memoryview(shared.get_obj()).cast("B")
        self._count = count
        self._size = self.size(longest)

    @classmethod
    def size(cls, longest: int) -> int:
        """How many bytes a text of so many characters takes at most."""
        return cls._LENGTH + 4 * longest

    def write(self, index: int, text: str) -> None:
        """Put a text into its place."""
        content = text.encode("utf-8", "surrogatepass")
        whole = len(content).to_bytes(self._LENGTH, "little") + content
        start = index * self._size
        self._bytes[start : start + len(whole)] = whole

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self)[index]
        start = range(self._count)[index] * self._size
        first = start + self._LENGTH
        last = first + int.from_bytes(self._bytes[start:first], "little")
        return bytes(self._bytes[first:last]).decode("utf-8", "surrogatepass")

    def __deepcopy__(self, memo: Any) -> Observations:
        return tuple(self)


@create_shared_memory.register(AnyText)
def _share(space: AnyText, n: int = 1, ctx: Any = multiprocessing) -> Any:
    return ctx.Array("B", n * SharedTexts.size(space.max_length))


@write_to_shared_memory.register(AnyText)
def _write(space: AnyText, index: int, values: str, shared_memory: Any) -> None:
    SharedTexts(shared_memory, index + 1, space.max_length).write(index, values)


@read_from_shared_memory.register(AnyText)
def _read(space: AnyText, shared_memory: Any, n: int = 1) -> SharedTexts:
    return SharedTexts(shared_memory, n, space.max_length)


class TextEnv(gymnasium.Env[str, str]):
    """One session; the observation is the game's text, `info` holds what else a turn says."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        benchmark: str,
        split: str | None = None,
        max_steps: int | None = 50,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.session = Session(shared_arena(benchmark, {**settings, "split": split}), max_steps)
        self.render_mode = render_mode
        self.observation_space = AnyText(LONGEST_OBSERVATION)
        self.action_space = AnyText(LONGEST_ACTION)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        chosen = check_options(options, {"task", "split"})
        split, task = chosen.get("split"), chosen.get("task")
        if task is None:
            task = int(self.np_random.integers(len(self.session.arena.tasks(split))))
        turn = self.session.reset(task, split)
        return turn.text, info_of(self.session)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        turn = self.session.step(action)
        info = info_of(self.session)
        return turn.text, turn.reward, turn.terminated, turn.truncated, info

    def render(self) -> str:
        return self.session.last.text

    def close(self) -> None:
        self.session.close()


class TextVectorEnv(VectorEnv[Observations, Sequence[str], Any]):
    """`num_envs` sessions stepped together."""

    def __init__(
        self,
        num_envs: int,
        benchmark: str,
        split: str | None = None,
        max_steps: int | None = 50,
        group_n: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self._mode = AutoresetMode(autoreset_mode)
        if num_envs % group_n or (group_n > 1 and self._mode is not AutoresetMode.DISABLED):
            raise UserError("group_n must divide num_envs, and needs autoreset_mode='Disabled'")
        arena = shared_arena(benchmark, {**settings, "split": split})
        self.vector = SessionVector(arena, num_envs // group_n, group_n, max_steps)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {"autoreset_mode": self._mode, "render_modes": []}
        self.single_observation_space = AnyText(LONGEST_OBSERVATION)
        self.single_action_space = AnyText(LONGEST_ACTION)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._dice: list[np.random.Generator] = []

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, dict[str, Any]]:
        chosen = check_options(options, {"tasks", "split", "reset_mask"})
        mask = self._mask(chosen.get("reset_mask"))
        self._seed(seed, mask)
        split, tasks = chosen.get("split"), chosen.get("tasks")
        if tasks is None:
            tasks = self._draw_tasks(mask, split)
        elif len(tasks) != self.num_envs:
            raise UserError(f"got {len(tasks)} tasks for {self.num_envs} environments")
        for slot in np.flatnonzero(mask).tolist():
            self.vector.reset_slot(slot, tasks[slot], split)
        return self._texts(), self._infos(mask)

    def step(
        self, actions: Sequence[str]
    ) -> tuple[Observations, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        given = actions.tolist() if isinstance(actions, np.ndarray) else actions
        check_commands(given, self.num_envs)
        if self._mode is not AutoresetMode.NEXT_STEP:
            self.vector.step(given)
            return self._result()
        running = self.vector.running
        self.vector.step([act if on else None for act, on in zip(given, running, strict=True)])
        for slot in np.flatnonzero(~np.array(running)).tolist():
            self.vector.reset_slot(slot, self._draw_task(slot))
        return self._result()

    def _result(self) -> tuple[Observations, NDArray[np.float64], Flags, Flags, dict[str, Any]]:
        turns = self.vector.turns
        rewards = np.array([turn.reward for turn in turns], np.float64)
        terminated = np.array([turn.terminated for turn in turns], np.bool_)
        truncated = np.array([turn.truncated for turn in turns], np.bool_)
        over = terminated | truncated
        final: dict[str, Any] = {}
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            final = {
                "final_obs": _objects(turn.text if turn.over else None for turn in turns),
                "_final_obs": over,
                "final_info": self._infos(over),
                "_final_info": over,
            }
            for slot in np.flatnonzero(over).tolist():
                self.vector.reset_slot(slot, self._draw_task(slot))
        infos = self._infos(self._mask(None)) | final
        return self._texts(), rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        self.vector.close()

    def _texts(self) -> Observations:
        return tuple(turn.text for turn in self.vector.turns)

    def _infos(self, mask: Flags) -> dict[str, Any]:
        """One array per key, and a mask of the slots that it speaks of."""
        said = [
            info_of(session) if there else {}
            for session, there in zip(self.vector.sessions, mask.tolist(), strict=True)
        ]
        infos: dict[str, Any] = {}
        for key in next(filter(None, said)):
            values = [each.get(key) for each in said]
            is_flag = key in ("won", "valid")
            infos[key] = np.array([bool(v) for v in values]) if is_flag else _objects(values)
            infos[f"_{key}"] = mask.copy()
        return infos

    def _mask(self, given: Any) -> Flags:
        if given is None:
            return np.ones(self.num_envs, np.bool_)
        right = isinstance(given, np.ndarray) and given.shape == (self.num_envs,)
        if not right or given.dtype != np.bool_ or not given.any():
            raise UserError(f"reset_mask must be {self.num_envs} booleans, not all of them False")
        return np.asarray(given, np.bool_)

    def _seed(self, seed: int | Sequence[int | None] | None, mask: Flags) -> None:
        """Each slot has a generator of its own, as environments side by side have."""
        seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        if seeds is not None and len(seeds) != self.num_envs:
            raise UserError(f"got {len(seeds)} seeds for {self.num_envs} environments")
        if not self._dice:
            self._dice = [np_random(s)[0] for s in (seeds or [None] * self.num_envs)]
        elif seeds is not None:
            for slot in np.flatnonzero(mask).tolist():
                if seeds[slot] is not None:
                    self._dice[slot] = np_random(seeds[slot])[0]

    def _draw_tasks(self, mask: Flags, split: str | None) -> list[int]:
        """Places of tasks; a group's first slot draws for all of it."""
        leaders = [slot - slot % self.vector.group_n for slot in range(self.num_envs)]
        needed = {leaders[slot] for slot in np.flatnonzero(mask).tolist()}
        drawn = {slot: self._draw_task(slot, split) for slot in sorted(needed)}
        return [drawn.get(leader, 0) for leader in leaders]

    def _draw_task(self, slot: int, split: str | None = None) -> int:
        return int(self._dice[slot].integers(len(self.vector.arena.tasks(split))))


def _objects(values: Any) -> NDArray[Any]:
    listed = list(values)
    array = np.empty(len(listed), dtype=object)
    for place, value in enumerate(listed):  # one by one: lists must stay lists
        array[place] = value
    return array


def info_of(session: Session) -> dict[str, Any]:
    """What `reset` and `step` return beside the observation."""
    turn = session.last
    return {
        "admissible_commands": list(turn.admissible),
        "won": turn.won,
        "valid": turn.valid,
        "goal": session.goal,
        "task": session.task.id,
        "task_type": session.task.task_type,
    }


def check_options(options: Mapping[str, Any] | None, known: set[str]) -> Mapping[str, Any]:
    """The options of a reset; raises UserError for one that is not known."""
    unknown = sorted(set(options or {}) - known)
    if unknown:
        raise UserError(f"options: unknown {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    return options or {}


def register() -> None:
    """An id per benchmark, and one per split of it: `agentquest/<benchmark>[-<split>]-v0`."""
    for name in registry.names("benchmark"):
        for split in (None, *registry.load("benchmark", name).splits):
            env_id = f"agentquest/{name}{f'-{split}' if split else ''}-v0"
            if env_id in gymnasium.registry:
                continue
            gymnasium.register(
                id=env_id,
                entry_point="agentquest.adapters.gymnasium_env:TextEnv",
                vector_entry_point="agentquest.adapters.gymnasium_env:TextVectorEnv",
                kwargs={"benchmark": name, **({"split": split} if split else {})},
            )


register()
