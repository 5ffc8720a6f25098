"""What a benchmark's games must keep to, whoever plays them."""

import copy
import json
import pickle
import random
from collections.abc import Callable

from agentquest.lib import Driver, Observation
from agentquest.lib.commands import fill_at_random, has_blank
from agentquest.lib.matching import Matcher
from agentquest.running.checks.subject import (
    Problems,
    Subject,
    carry_out,
    check,
    difference,
    observe,
    show,
    transcript,
)

_NONSENSE = ("", "a sentence that no benchmark understands", "xyzzy \x00 \U0001f9ed", "y" * 2000)
_FILLINGS = 300


@check(
    "Set text and output of every observation; keep outcome, can_proceed and solved in step "
    "with each other; keep details and facts plain."
)
def observations(subject: Subject) -> Problems:
    """Texts are never empty, outcomes are consistent and can be saved."""
    for task in subject.tasks:
        driver, observation = subject.open(task)
        if not isinstance(driver.metrics.goal, str) or not driver.metrics.goal:
            yield f"{task.id}: the goal is empty"
        if subject.benchmark.goal_in(observation.text) not in ("", driver.metrics.goal):
            yield f"{task.id}: goal_in() reads a different goal from the first observation"
        if driver.outcome.done:
            yield f"{task.id}: is over before the first step"
        for command in ["", *subject.script(task)]:
            after = f"{task.id}, after {command!r}" if command else f"{task.id}, at the start"
            if command:
                accepted = driver.accepts(command)
                observation = carry_out(driver, command)
                if accepted != observation.valid:
                    yield f"{after}: accepts() said {accepted}, step() {observation.valid}"
            yield from (f"{after}: {problem}" for problem in _moment(driver, observation))
        yield from (f"{task.id}: {problem}" for problem in _records(driver))
        driver, last = subject.open(task)
        last = _play_out(subject, driver, last)
        yield from (f"{task.id}, at the end: {problem}" for problem in _moment(driver, last))


@check("Draw at random only from a seed that the task decides; no clock, no set order.")
def determinism(subject: Subject) -> Problems:
    """The same commands give the same game."""
    for task in subject.tasks:
        commands = subject.script(task)
        once = transcript(subject.benchmark.driver(task), commands)
        again = transcript(subject.make().driver(task), commands)
        if problem := difference(once, again, commands):
            yield f"{task.id}: {problem}"


@check("Leave game() to the base class, or let both play one engine.")
def training_games(subject: Subject) -> Problems:
    """Benchmark.game plays the same game as the driver."""
    for task in subject.tasks:
        commands = subject.script(task)
        moments = transcript(subject.benchmark.driver(task), commands)
        game = subject.benchmark.game(task)
        for place, moment in enumerate(moments):
            text = game.step(commands[place - 1]) if place else game.reset()
            outcome = moment.outcome
            expected = (moment.text, outcome.done, outcome.success, outcome.reward, moment.valid)
            found = (text, game.done, game.won, game.reward, game.valid)
            if found != expected or tuple(game.admissible) != moment.admissible:
                after = f"after {commands[place - 1]!r}" if place else "at the start"
                yield f"{task.id}: {after} game() is {show(found)}, the driver {show(expected)}"
                break
            if outcome.done:
                break


@check(
    "Keep plain data in the driver: no lambdas, open files, locks or generators, and no mutable "
    "data shared with a copy."
)
def copies(subject: Subject) -> Problems:
    """A driver can be pickled and copied in the middle of a game."""
    ways: tuple[tuple[str, Callable[[Driver], Driver]], ...] = (
        ("pickled", lambda driver: pickle.loads(pickle.dumps(driver))),
        ("copied", copy.deepcopy),
    )
    for task in subject.tasks:
        commands = subject.script(task)
        half = len(commands) // 2
        whole = transcript(subject.benchmark.driver(task), commands)
        for word, duplicate in ways:
            driver = subject.benchmark.driver(task)
            transcript(driver, commands[:half])
            try:
                other = duplicate(driver)
            except Exception as error:  # a driver of the user's own may hold anything
                yield f"{task.id}: a driver cannot be {word}: {type(error).__name__}: {error}"
                continue
            for who, game in (("the copy", other), ("the original", driver)):
                rest = [observe(game, carry_out(game, command)) for command in commands[half:]]
                if problem := difference(whole[half + 1 :], rest, commands[half:]):
                    yield f"{task.id}, {word} half-way: {who} continues differently: {problem}"


@check(
    "Keep what changes in the driver, never in the class, the module or the benchmark, and set "
    "all of it in _reset."
)
def isolation(subject: Subject) -> Problems:
    """Games do not influence each other, and a reset forgets everything."""
    for task, other in zip(subject.tasks, reversed(subject.tasks), strict=True):
        commands = subject.script(task)
        alone = transcript(subject.make().driver(task), commands)
        games = [subject.benchmark.driver(each) for each in (task, other, task)]
        firsts = [game.reset() for game in games]
        moments = [observe(games[0], firsts[0])]
        for place, command in enumerate(commands):
            for neighbour in games[1:]:
                carry_out(neighbour, commands[-1 - place])
            moments.append(observe(games[0], carry_out(games[0], command)))
        if problem := difference(alone, moments, commands):
            yield f"{task.id}: plays differently next to other games: {problem}"
        if problem := difference(alone, transcript(games[0], commands), commands):
            yield f"{task.id}: plays differently after a reset: {problem}"


@check("Return the current state and an observation with valid=False that says what was wrong.")
def invalid_commands(subject: Subject) -> Problems:
    """An invalid command changes nothing and is answered."""
    for task in subject.tasks:
        commands = subject.script(task)
        driver, observation = subject.open(task)
        undisturbed = transcript(subject.benchmark.driver(task), commands)
        moments = [observe(driver, observation)]
        for place, command in enumerate(commands):
            nonsense = _NONSENSE[place % len(_NONSENSE)]
            if not any(Matcher(each).fits(nonsense) for each in observation.admissible):
                yield from (f"{task.id}: {problem}" for problem in _check_refusal(driver, nonsense))
            observation = carry_out(driver, command)
            moments.append(observe(driver, observation))
        if problem := difference(undisturbed, moments, commands):
            yield f"{task.id}: an invalid command changed the game: {problem}"


@check("Leave step() to the base class and let _reset set everything back.")
def finished_games(subject: Subject) -> Problems:
    """A game that is over stays over until it is reset."""
    for task in subject.tasks:
        driver, first = subject.open(task)
        last = _play_out(subject, driver, first)
        if not driver.outcome.done:
            continue
        steps, outcome = len(driver.metrics.interactions), driver.outcome
        for command in (*first.admissible[:1], _NONSENSE[1]):
            if carry_out(driver, command) != last or driver.outcome != outcome:
                yield f"{task.id}: is over, but {command!r} still changes something"
        if len(driver.metrics.interactions) != steps:
            yield f"{task.id}: is over, but steps are still counted"
        if driver.reset() != first or driver.outcome.done:
            yield f"{task.id}: reset does not start it over"


@check(
    "List commands as they are accepted, or with blanks as agentquest.lib.commands describes them."
)
def admissible_commands(subject: Subject) -> Problems:
    """What is listed as admissible is accepted."""
    for task in subject.tasks:
        driver, observation = subject.open(task)
        for command in subject.script(task):
            offered = observation.admissible
            if not offered:
                yield f"{task.id}: nothing is admissible before {command!r}"
            if len(set(offered)) != len(offered):
                yield f"{task.id}: a command is listed twice before {command!r}"
            for each in offered:
                if each != each.strip() or len(each.splitlines()) != 1:
                    yield f"{task.id}: {each!r} is not one line of text"
                elif not _some_filling(driver, each):
                    yield f"{task.id}: {each!r} is listed but not accepted"
            observation = carry_out(driver, command)
            if driver.outcome.done:
                break


def _moment(driver: Driver, observation: Observation) -> Problems:
    outcome = driver.outcome
    if not (observation.text and observation.output):
        yield "text or output is empty"
    if observation.can_proceed == outcome.done:
        yield f"can_proceed is {observation.can_proceed}, outcome.done is {outcome.done}"
    if outcome.success and not outcome.done:
        yield "success before the game is over"
    for name in ("reward", "progress"):
        if not 0 <= getattr(outcome, name) <= 1:
            yield f"{name} is {getattr(outcome, name)}, not within 0 and 1"
    if driver.solved != outcome.success:
        yield f"solved is {driver.solved}, outcome.success is {outcome.success}"


def _records(driver: Driver) -> Problems:
    """The parts of a game that go into records and exports."""
    exported = driver.metrics.export()
    if len(exported["progress"]) != len(exported["actions"]):
        yield "metrics.progress() does not have one value per step"
    for name, value in (("export", exported), ("details", driver.details())):
        try:
            json.dumps(value)
        except (TypeError, ValueError) as error:
            yield f"{name}() cannot be written as JSON: {error}"
    facts = driver.facts()
    if not all(isinstance(text, str) for text in (*facts, *facts.values())):
        yield f"facts() are not texts: {show(facts)}"


def _check_refusal(driver: Driver, nonsense: str) -> Problems:
    if driver.accepts(nonsense):
        yield f"accepts({show(nonsense)}) is True"
    before = driver.outcome
    observation = carry_out(driver, nonsense)
    if observation.valid:
        yield f"{show(nonsense)} is observed as valid"
    if not observation.text:
        yield f"{show(nonsense)} is not answered"
    if driver.outcome != before:
        yield f"{show(nonsense)} changes the outcome to {driver.outcome}"


def _play_out(subject: Subject, driver: Driver, observation: Observation) -> Observation:
    """Play to the end by the oracle, or else the explorer, as far as they get."""
    oracle, explorer = subject.benchmark.oracle(driver), subject.benchmark.explorer()
    for _ in range(subject.benchmark.step_limit):
        plan = oracle.plan() if oracle is not None else []
        command = plan[0] if plan else explorer.choose(observation)
        observation = carry_out(driver, command)
        if driver.outcome.done or not observation.can_proceed:
            break
    return observation


def _some_filling(driver: Driver, command: str) -> bool:
    """Whether a command is accepted; of one with blanks, any filling of many."""
    if not has_blank(command):
        return driver.accepts(command)
    rng = random.Random(command)
    goal = driver.metrics.goal
    return any(driver.accepts(fill_at_random(command, rng, goal)) for _ in range(_FILLINGS))
