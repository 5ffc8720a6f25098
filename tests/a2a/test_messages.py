"""The texts other people's agents depend on, byte for byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.a2a.messages import (
    REFUSAL,
    ParsedMessage,
    first_message,
    next_message,
    read_message,
    reminder,
)
from agentquest.benchmarks.alfworld import prompting as alfworld
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.webshop import prompting as webshop
from agentquest.lib import Briefing
from growth import MOST, growth, repeated

HOUSEHOLD = alfworld.briefing(Dialect("0.4"), ())
SHOP = Briefing(instructions="", role=webshop.ROLE, examples=webshop.EXAMPLES)

FIRST = """\
You are an agent in a household environment. Your goal is to complete tasks by taking actions.

ENVIRONMENT OBSERVATION:
You are in the middle of a room.

Your task is to: put a cup on desk.

Available actions (choose one):
  1. go to desk 1
  2. look

INSTRUCTIONS:
- Read the observation carefully to understand your current situation and goal.
- Choose an action from the available actions list.
- Respond with ONLY the exact action text (e.g., "go to desk 1" or "take book 1 from desk 1").
- Do NOT include any explanation, just the action command.

Please provide your next action:"""

NEXT = """\
OBSERVATION after your action "go to desk 1":

ENVIRONMENT OBSERVATION:
On the desk 1, you see nothing.

Available actions (choose one):
  1. look

Please provide your next action (just the action command, no explanation):"""

AFTER_NOTHING = """\
OBSERVATION after your last reply:

ENVIRONMENT OBSERVATION:
Nothing happens.
Your reply was not one of the available actions, so nothing was done. \
Reply with exactly one of the actions listed.

Available actions (choose one):
No admissible commands available.

Please provide your next action (just the action command, no explanation):"""


def test_the_first_message():
    room = "You are in the middle of a room.\n\nYour task is to: put a cup on desk."
    assert first_message(HOUSEHOLD, room, ["go to desk 1", "look"]) == FIRST


def test_a_later_message():
    assert next_message("go to desk 1", "On the desk 1, you see nothing.", ["look"]) == NEXT


def test_the_message_after_a_reply_that_was_no_action():
    assert next_message(None, REFUSAL, []) == AFTER_NOTHING


REMINDED = """\
You are an agent in a household environment. Your goal is to complete tasks by taking actions.

YOUR TASK:
put a cup on desk

"""


def test_the_goal_can_be_said_again():
    again = reminder(HOUSEHOLD, "put a cup on desk")
    message = next_message(
        "go to desk 1", "On the desk 1, you see nothing.", ["look"], reminder=again
    )
    assert message == REMINDED + NEXT
    read = read_message(message)
    assert (read.first, read.admissible) == (False, ("look",))


def test_other_benchmarks_are_introduced_as_what_they_are():
    assert "online shop" in first_message(SHOP, "x", ["search[<query>]"])
    assert "household" not in first_message(Briefing(""), "x", ["jump"])
    assert '"jump"' in first_message(Briefing(""), "x", ["jump"])


words = st.text(st.sampled_from("abc 123.:\n"), max_size=60)
commands = st.lists(st.from_regex(r"[a-z]+( [a-z]+ [0-9]{1,2}){0,2}", fullmatch=True), max_size=12)


@given(words, commands)
def test_what_was_written_is_read_again(observation, admissible):
    first = read_message(first_message(HOUSEHOLD, observation, admissible))
    assert first == ParsedMessage(True, observation, tuple(admissible))
    later = read_message(next_message("go to desk 1", observation, admissible))
    assert later == ParsedMessage(False, observation, tuple(admissible))


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    heard = read_message(text)
    assert isinstance(heard.observation, str)


@pytest.mark.parametrize(
    "text",
    [
        repeated("\n", before="x\n\nAvailable actions (choose one):\n"),
        repeated(" \n", before="x\n\nAvailable actions (choose one):\n"),
        repeated("1. ", before="x\n\nAvailable actions (choose one):\n"),
        repeated("1" * 50 + "\n", before="x\n\nAvailable actions (choose one):\n"),
        repeated('OBSERVATION after your action "'),
        repeated("\n\nAvailable actions (choose one):\n"),
    ],
)
def test_reading_costs_no_more_than_the_message_is_long(text):
    assert growth(read_message, text) < MOST
