"""`step_raw` finds the command in an answer, and never makes one up."""

from collections.abc import Callable
from typing import Any

import pytest

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver
from agentquest.errors import ParseError
from agentquest.lib import Observation, parse_action


def say(driver: AlfWorldDriver, command: str) -> Observation:
    return driver.step(AlfWorldAction(value=command))


@pytest.mark.parametrize(
    "answer",
    [
        "Action: {}",
        "Here is the action. Action: {}",
        "I think.\nACTION:   {}  \nThat is all.",
        "action:{}",
        "'Action: {}'",
        '"Action: {}"',
        "`Action: {}`",
        "“Action: {}”",
        "**Action:** {}",
        "**Action**: {}",
        "**Action: {}**",
        "**Action:**\n{}",
        "*Action:* `{}`",
        "'**Action:** {}'",
        'Action: "{}"',
        "Action: '{}'",
        "Action: `{}`",
        "Action: **{}**",
        'Action: **"{}"**',
        "Action: ‘{}’",
        "Action: {}.",
        "Action: <{}>",
        "Action: {} *",
        "Action 1: {}",
        "<thinking>Action: look would be bad</thinking>\nAction: {}",
        "<|channel|>final<|message|>Action: {}<|return|>",
        "下一步行动：{}",
    ],
)
def test_step_raw_finds_the_command(answer: str, driver: AlfWorldDriver) -> None:
    command = driver.metrics.milestones[0]
    observation = driver.step_raw(value=answer.format(command))
    assert driver.metrics.action_values == [command]
    driver.reset()
    assert say(driver, command) == observation


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("Action: say 'hello'", "say 'hello'"),
        ("Action: 'a' or 'b'", "'a' or 'b'"),
        ("Action: look'", "look'"),
        ("Action: 'look", "'look"),
        ('Action: search[5" pipe]', 'search[5" pipe]'),
        ("Action: Search['RED']", "search['red']"),
        ("**Action: look", "look"),
        ("* Action: look", "look"),
    ],
)
def test_marks_that_do_not_wrap_the_command_are_part_of_it(answer: str, command: str) -> None:
    assert parse_action(answer) == command


@pytest.mark.parametrize(
    "hostile",
    [
        "action:" + " " * 500_000,
        "'" * 500_000,
        "action*" * 100_000,
        "'*" * 200_000 + "action:",
        "action:" + "\"'" * 200_000 + "x" + "'\"" * 200_000,
        "*" * 400_000 + "action:" + "*" * 400_000,
    ],
)
def test_hostile_answers_are_read_in_one_pass(hostile: str, driver: AlfWorldDriver) -> None:
    """With a pattern that looks back, these would take hours."""
    assert driver.step_raw(hostile).can_proceed


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "go to fridge 1",
        'Action: ""',
        "Action: <action_command>",
        "Action",
        "Action:",
        "Action:  \n ",
        "**Action:**",
        "**Action:** \n ",
    ],
)
def test_an_unreadable_answer_is_told_to_the_agent_and_kept(
    answer: str, driver: AlfWorldDriver
) -> None:
    state = driver.engine.state
    observation = driver.step_raw(answer)
    assert "Action: <action_command>" in observation.output
    assert (observation.success, observation.can_proceed) == (False, True)
    assert driver.unparsed == [answer]
    assert driver.metrics.interactions == []
    assert driver.engine.state is state
    assert driver.step_raw(f"Action: {driver.metrics.milestones[0]}").can_proceed
    assert len(driver.metrics.interactions) == 1


def test_a_custom_parser(driver: AlfWorldDriver) -> None:
    command = driver.metrics.milestones[0]

    def in_brackets(text: str) -> str:
        if "[" not in text:
            raise ParseError("Put the command in [brackets].")
        return text.partition("[")[2].partition("]")[0]

    driver.step_raw(f"I say [{command}] and mean it", custom_parser=in_brackets)
    assert driver.metrics.action_values == [command]
    observation = driver.step_raw(f"Action: {command}", custom_parser=in_brackets)
    assert observation.output == "Put the command in [brackets]."
    assert driver.unparsed == [f"Action: {command}"]


@pytest.mark.parametrize(
    "as_said",
    [str, lambda command: {"value": command}, lambda command: AlfWorldAction(value=command)],
    ids=["text", "dict", "action"],
)
def test_a_custom_parser_may_return_text_a_dict_or_an_action(
    as_said: Callable[[str], Any], driver: AlfWorldDriver
) -> None:
    command = driver.metrics.milestones[0]
    observation = driver.step_raw("x", custom_parser=lambda text: as_said(command))
    assert driver.metrics.action_values == [command]
    assert observation.valid


def fail(text: str) -> str:
    raise ValueError(f"what is {text}?")


@pytest.mark.parametrize(
    ("parser", "told"),
    [
        (lambda text: None, "Action: <action_command>"),
        (fail, "(ValueError: what is x?)"),
        (lambda text: {}["choices"], "(KeyError: 'choices')"),
        (lambda text: {"action": "look"}, "(TypeError: "),
        (lambda text: {"value": 3}, "an action's value is text, not 3"),
        (lambda text: 3, "an action's value is text, not 3"),
    ],
)
def test_a_custom_parser_that_finds_nothing_or_fails_is_told_to_the_agent(
    parser: Callable[[str], Any], told: str, driver: AlfWorldDriver
) -> None:
    observation = driver.step_raw("x", custom_parser=parser)
    assert told in observation.output
    assert (observation.valid, observation.can_proceed) == (False, True)
    assert driver.unparsed == ["x"]
    assert driver.metrics.interactions == []


def test_an_action_is_text() -> None:
    with pytest.raises(TypeError, match="an action's value is text, not 3"):
        AlfWorldAction(value=3)  # type: ignore[arg-type]
