"""Mastermind as the rest of AgentQuest knows it, and as people see it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from agentquest.benchmarks.mastermind import prompting
from agentquest.benchmarks.mastermind.driver import MasterMindDriver, read_goal, read_length
from agentquest.benchmarks.mastermind.explorer import MasterMindExplorer
from agentquest.benchmarks.mastermind.tasks import CATEGORIES, GENERATOR, goal_of
from agentquest.lib import Briefing, Driver, Explorer, Observation, Oracle, Task, TerminalView
from agentquest.lib.generated import GeneratedBenchmark


class MasterMindBenchmark(GeneratedBenchmark):
    """Secret numbers to be guessed; a task type is a number of digits."""

    name: ClassVar[str] = "mastermind"
    title: ClassVar[str] = "Mastermind"
    generator: ClassVar[str] = GENERATOR
    task_types: ClassVar[tuple[str, ...]] = CATEGORIES
    task_type_aliases: ClassVar[Mapping[str, str]] = {
        name.replace(" ", "-"): name for name in CATEGORIES
    }

    def driver(self, task: Task) -> MasterMindDriver:
        return MasterMindDriver(goal_of(task))

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        # One more than asked for, because a task of the train split may be an example itself.
        played = prompting.examples(task.task_type, demonstrations + 1) if demonstrations else ()
        solution = driver.metrics.milestones
        others = [example for example in played if [example.turns[-1][1]] != solution]
        return replace(prompting.BRIEFING, demonstrations=tuple(others[:demonstrations]))

    def goal_in(self, observation: str) -> str:
        return read_goal(observation)

    def explorer(self) -> Explorer:
        return MasterMindExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, MasterMindDriver)
        return Oracle(driver.plan)

    def view(self) -> TerminalView:
        return MasterMindView()


class MasterMindView(TerminalView):
    """Says how long the number is, and lists guesses under one heading."""

    def room(self, observation: Observation) -> str:
        digits = read_length(observation.text) or "some"
        return f"A secret number of {digits} digits, which may repeat. Type a number to guess it."

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        verb, _, rest = command.partition(" ")
        return verb.removesuffix(":"), rest
