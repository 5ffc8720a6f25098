"""ALFWorld's own interface (0.3 and 0.4), for code written against it.

What `alfworld.agents.environment` offers, with the same names, order of games,
limits and infos; see `textworld_gym` for what an environment returns.
"""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from agentquest.adapters.stand_ins import StandIn
from agentquest.adapters.textworld_core import EnvInfos, Wrapper, is_builtin
from agentquest.adapters.textworld_gym import TextworldBatchGymEnv, make, register_games
from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.game_files import (
    GAME_FILE,
    TRAJECTORY_FILE,
    read_json,
)
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.benchmarks.alfworld.task_types import TASK_TYPES as _TYPES
from agentquest.benchmarks.alfworld.tasks import BUILTIN
from agentquest.errors import DataError, UserError
from agentquest.lib import Explorer
from agentquest.safe_text import say

TASK_TYPES = {each.number: each.name for each in _TYPES}
_DATA_PATHS = {
    "train": "data_path",
    "eval_in_distribution": "eval_id_data_path",
    "eval_out_of_distribution": "eval_ood_data_path",
}


class AlfredDemangler(Wrapper):
    """Readable names, such as `apple 1`: the only ones our games have; `dialect` is their wording,
    which the original cannot choose."""

    def __init__(self, *args: Any, shuffle: bool = False, dialect: str = "", **named: Any) -> None:
        super().__init__(*args, **named)
        if shuffle:
            raise NotImplementedError(
                "domain_randomization (AlfredDemangler(shuffle=True)) is not offered by AgentQuest"
            )
        self.shuffle = shuffle
        self.dialect = dialect

    def load(self, *args: Any, **named: Any) -> None:
        """Load the game, and note that readable names are wanted, and in which words."""
        self.unwrapped.dialect = self.dialect
        super().load(*args, **named)
        self.unwrapped.demangled = True


class AlfredInfos(Wrapper):
    """Names the game's file, at reset."""

    _gamefile: str | None = None

    def load(self, *args: Any, **named: Any) -> None:
        """Load the game, and remember its file."""
        super().load(*args, **named)
        self._gamefile = args[0]

    def reset(self, *args: Any, **named: Any) -> Any:
        """Begin the game; `extra.gamefile` of its state is the file."""
        state = super().reset(*args, **named)
        state["extra.gamefile"] = self._gamefile
        return state


class AlfredExpertType:
    """The names of the two experts, as configuration files spell them."""

    HANDCODED = "handcoded"
    PLANNER = "planner"


class AlfredExpert(Wrapper):
    """What an expert would do next.

    `expert` is who is asked for hand-coded advice: our own player by rules, which like the
    original's has to look for things, and goes on from whatever the learner does.
    """

    expert: Callable[[], Explorer] = AlfWorldExplorer

    def __init__(self, env: Any = None, expert_type: str = AlfredExpertType.HANDCODED) -> None:
        super().__init__(env)
        if expert_type not in (AlfredExpertType.HANDCODED, AlfredExpertType.PLANNER):
            raise ValueError(f"Unknown type of AlfredExpert: {expert_type}.")
        self.expert_type = expert_type

    def load(self, gamefile: str) -> None:
        """Load the game, and ask it for what the expert must know."""
        super().load(gamefile)
        self.gamefile = gamefile
        wanted = self.request_infos
        if self.expert_type == AlfredExpertType.PLANNER:
            wanted.policy_commands = True
        else:
            wanted.facts = True

    def reset(self, *args: Any, **named: Any) -> Any:
        """Begin the game; its state holds the expert's advice."""
        state = super().reset(*args, **named)
        self._adviser = self.expert()
        self._advise(state, first=True)
        return state

    def step(self, command: str) -> Any:
        """Play a command; the new state holds the expert's next advice."""
        state, score, done = super().step(command)
        if self.expert_type == AlfredExpertType.HANDCODED:
            self._adviser.did(command)
        self._advise(state, first=False)
        return state, score, done

    def _advise(self, state: Any, first: bool) -> None:
        if self.expert_type == AlfredExpertType.PLANNER:
            state["extra.expert_plan"] = state["policy_commands"]
            return
        possible = state["admissible_commands"]
        advice = self._adviser.next_action(state["feedback"])
        for _ in range(_SECOND_THOUGHTS):
            if advice in possible:
                break
            advice = self._adviser.next_action(NOTHING_HAPPENS)
        # At first the original's advises to look, whatever it sees.
        state["extra.expert_plan"] = [advice if advice in possible and not first else "look"]


class AlfredTWEnv(StandIn):
    """The games of a split, as a configuration file of ALFWorld's describes them."""

    def __init__(self, config: dict[str, Any], train_eval: str = "train") -> None:
        say("Initializing AlfredTWEnv...")
        self.config = config
        self.train_eval = train_eval
        if config["env"]["goal_desc_human_anns_prob"] > 0:
            say("Warning! `goal_desc_human_anns_prob` is ignored: games are played as they are.")
        self.collect_game_files()

    def collect_game_files(self, verbose: bool = False) -> None:
        """List the games of the split and of the configured task types, as many as configured."""
        if self.train_eval not in _DATA_PATHS:
            raise UserError(f"train_eval is one of {', '.join(_DATA_PATHS)}, not {self.train_eval}")
        dataset = self.config["dataset"]
        key = _DATA_PATHS[self.train_eval]
        folder = os.path.expandvars(dataset[key])
        numbers = self.config["env"]["task_types"]
        assert len(numbers) > 0
        types = {TASK_TYPES[number] for number in numbers if number in TASK_TYPES}
        found = _builtin_files(folder, types) if is_builtin(folder) else _files(folder, types)
        if not found:
            raise UserError(
                f"there are no games of these task types in {folder}: dataset.{key} of the"
                f" configuration is {dataset[key]}; $ALFWORLD_DATA in it stands for the folder of"
                " the data, and ALFWORLD_DATA=builtin plays AgentQuest's built-in homes"
            )
        say(f"Overall we have {len(found)} games in split={self.train_eval}")
        training = self.train_eval == "train"
        wanted = dataset["num_train_games" if training else "num_eval_games"]
        self.game_files = found[:wanted] if wanted > 0 else found
        self.num_games = len(self.game_files)
        say(f"{'Training' if training else 'Evaluating'} with {self.num_games} games")

    def init_env(self, batch_size: int) -> TextworldBatchGymEnv:
        """An environment over `game_files`, as they are now, so many games at a time."""
        return self._make_env(self.game_files, batch_size)

    def init_game(self, batch_size: int, game_file: str) -> TextworldBatchGymEnv:
        """The same over one game: what ADaPT adds to the class."""
        return self._make_env([game_file], batch_size)

    def _make_env(self, game_files: list[str], batch_size: int) -> TextworldBatchGymEnv:
        training = self.train_eval == "train"
        randomized = bool(self.config["env"]["domain_randomization"]) and training
        dialect = str(self.config["env"].get("dialect") or "")
        demangler = AlfredDemangler(shuffle=randomized, dialect=dialect)
        wrappers: list[Any] = [demangler, AlfredInfos]
        infos = EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        method = self.config["general"]["training_method"]
        if method not in ("dqn", "dagger"):
            raise NotImplementedError(f"training_method {method!r}: there are dqn and dagger")
        section = self.config["rl" if method == "dqn" else "dagger"]
        if method == "dagger" and training:
            # The original passes expert_type where it is not read, so it is always this one.
            wrappers.append(AlfredExpert())
            infos.extras.append("expert_plan")
        env_id = register_games(
            game_files,
            infos,
            batch_size=batch_size,
            max_episode_steps=section["training"]["max_nb_steps_per_episode"],
            wrappers=wrappers,
        )
        return make(env_id)


_SECOND_THOUGHTS = 4


def get_environment(env_type: str) -> type[AlfredTWEnv]:
    """The class of an `env.type`; NotImplementedError for any but the text games."""
    if env_type == "AlfredTWEnv":
        return AlfredTWEnv
    raise NotImplementedError(
        f"Environment {env_type} is not implemented: AgentQuest plays the text games, AlfredTWEnv."
    )


def load_config() -> dict[str, Any]:
    """The configuration file named on the command line, with `-p a.b=value` put into it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("config_file", help="path to config file")
    parser.add_argument("-p", "--params", nargs="+", metavar="my.setting=value", default=[])
    given = parser.parse_args()
    file = Path(given.config_file)
    assert file.exists(), "Invalid config file"
    config: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    for change in given.params:
        path, _, value = change.partition("=")
        *sections, name = path.split(".")
        place = config
        for section in sections:
            place = place[section]
        place[name] = value
    return config


def _files(folder: str, types: set[str]) -> list[str]:
    """In the order in which the file system lists them, as in the original."""
    found = []
    for root, _, names in os.walk(folder, topdown=False):
        if TRAJECTORY_FILE not in names or "movable" in root or "Sliced" in root:
            continue
        try:
            solvable = _is_solvable(Path(root), types)
        except DataError as error:
            raise DataError(f"{root}: {error}") from None
        if solvable is None:
            say(f"-> Skipping missing solvable key! {root}/{GAME_FILE}")
        elif solvable:
            found.append(os.path.join(root, GAME_FILE))  # noqa: PTH118  spelled as walked
    return found


def _is_solvable(trial: Path, types: set[str]) -> bool | None:
    """Whether a trial is a game of these types that can be won; None if its file does not say."""
    if str(read_json(trial / TRAJECTORY_FILE).get("task_type")) not in types:
        return False
    game = trial / GAME_FILE
    return game.exists() and read_json(game).get("solvable")


def _builtin_files(folder: str, types: set[str]) -> list[str]:
    split = folder.rstrip("/").rpartition("/")[2]
    return [
        f"{BUILTIN}:{name}/{GAME_FILE}"
        for name in homes.game_ids(split)
        if name.split("/")[1].partition("-")[0] in types
    ]
