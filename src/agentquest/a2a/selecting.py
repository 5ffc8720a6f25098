"""Which games an assessment plays, from its request."""

from agentquest.a2a.assessment_config import MOST_GAMES, AssessmentConfig
from agentquest.errors import UserError
from agentquest.lib import Benchmark
from agentquest.running.selection import Selection, select
from agentquest.words import counted


def choose(config: AssessmentConfig, benchmark: Benchmark) -> Selection:
    """The games that a request asks for, those of its shard.

    Whatever cuts them short cuts all task types alike: games are taken from each in turn.
    """
    tasks = benchmark.tasks()
    if not tasks:
        raise UserError(f"no games in split {benchmark.split!r} for these task types")
    there = {task.task_type for task in tasks}
    types = [name for name in benchmark.wanted_types if name in there]
    wanted = config.num_games
    if config.per_type is None and wanted >= len(tasks):
        # A request for at least as many games as there are means all of them.
        chosen = select(tasks, types, config.seed)
        if len(tasks) < wanted < MOST_GAMES:
            few = f"{counted(wanted, 'game')} requested, only {len(tasks)} available"
            chosen = Selection(chosen.tasks, (few,))
    else:
        chosen = select(tasks, types, config.seed, wanted, config.per_type)
    capped, notes = chosen.tasks[: config.num_instances], list(chosen.notes)
    if len(capped) < len(chosen.tasks) and config.protocol is not None:
        notes.append(f"num_instances leaves out games of protocol {config.protocol}")
    return Selection(tuple(capped[config.shard_index :: config.num_shards]), tuple(notes))


def is_whole(config: AssessmentConfig, benchmark: Benchmark) -> bool:
    """Whether no game is left out, so that a protocol's name still says what is played."""
    games = min(config.num_games, len(benchmark.task_list()))
    return config.num_instances is None or config.num_instances >= games
