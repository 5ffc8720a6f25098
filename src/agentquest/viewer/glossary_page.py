"""The words that pages and documentation use in a sense of their own; `docs/glossary.md` has
the same sentences."""

from collections.abc import Iterator, Mapping

import htpy as h

from agentquest.store.library import Library
from agentquest.viewer.addresses import Addresses

TERMS = {
    "run": (
        "One agent on the tasks of one benchmark with one configuration. It is stored in a"
        " folder; starting it again continues it."
    ),
    "task": "One game, puzzle or shopping request of a benchmark.",
    "episode": "One attempt of an agent at a task, from the first observation to its end.",
    "trial": "One of several episodes of the same task in a run (setting trials).",
    "protocol": (
        "Named settings, mostly those of a publication, so that scores can be compared with"
        " published ones."
    ),
    "briefing": (
        "What an agent is told before its first step: the goal and the rules of the environment,"
        " in some protocols also examples."
    ),
    "step": (
        "One action of the agent and what the environment answers. Over A2A, where it is one"
        " message, it is also called a turn."
    ),
    "possible commands": (
        "The commands that the environment accepts at a step; in records, settings and code they"
        " are called admissible."
    ),
    "invalid action": "An action that the environment did not carry out.",
    "repetition": "The share of an episode's actions, after the first, that repeat an earlier one.",
    "progress": "How much of the task is done, from 0 to 1, computed by the environment.",
    "scored": (
        "An episode that counts: the agent solved the task, failed or ran out of steps. Failures"
        " of the network, a server or this program have no score."
    ),
    "pending": (
        "Without a score yet: not played so far, or ended by a failure that was not the agent's."
        " Continuing the run plays these episodes (again)."
    ),
    "oracle": (
        "The part of a benchmark that knows the whole state of a game and plans the shortest way"
        " to the goal. Agents do not see it."
    ),
    "uses the oracle": (
        "A player that is shown the oracle's plan: an upper bound to compare with, not an agent"
        " under test."
    ),
    "explorer": (
        "A rule-based player that reads only the text that an agent reads. It shows that a"
        " benchmark can be played from its text, and is the baseline called scripted."
    ),
    "harmful step": (
        "A step after which the goal is further away than before, by the oracle. One that looks"
        " somewhere new is none, unless the goal is out of reach then."
    ),
    "cycle": "A sequence of actions that is repeated at once, such as going back and forth.",
}


def glossary_page(site: Addresses, library: Library, query: Mapping[str, str]) -> Iterator[h.Node]:
    """Each term with its meaning."""
    yield h.h1["Glossary"]
    yield h.dl(".terms")[([h.dt[term], h.dd[meaning]] for term, meaning in TERMS.items())]
