"""Agents whose score is known beforehand, for the documented validation cases."""

import asyncio

from agentquest.lib import Agent, Answer, InformedAgent


class PerfectAgent(Agent):
    """Plays the plan the game itself knows, and closes what it opens.

    Over A2A it has no game to look at, so it finds its own copy of it.
    """

    repeats = 0
    closes = True

    async def act(self, observation):
        if not hasattr(self, "_moves"):
            self._moves = moves(observation.text, self.closes, self.repeats)
        return Answer(action=next(self._moves))


class UntidyAgent(PerfectAgent):
    """Wins, and leaves the fridge open."""

    closes = False


class RepeatingAgent(PerfectAgent):
    """Wins, after looking four times in a row."""

    repeats = 4


class SlowAgent(Agent):
    """Takes an hour for every answer."""

    async def act(self, observation):
        await asyncio.sleep(3600)
        return Answer(action="look")


class Planner(InformedAgent):
    """Wants the oracle, which nobody has over A2A."""

    async def act(self, observation):
        return Answer(action="look")


def moves(opening, closes, repeats):
    from agentquest.running.factory import make_benchmark

    benchmark = make_benchmark("alfworld", {"data_path": "builtin"})
    for task in benchmark.tasks():
        driver = benchmark.driver(task)
        if driver.reset().text == opening:
            break
    yield from ["look"] * repeats
    opened = None
    for command in driver.oracle_actions():
        if opened and closes and command.startswith("go to"):
            yield f"close {opened}"
            opened = None
        if command.startswith("open "):
            opened = command.removeprefix("open ")
        yield command
