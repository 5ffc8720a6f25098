"""Named settings, so that a number can be set beside a published one.

A protocol fixes split, number of tasks, dialect, prompt family and step limit.
Published scores differ silently in exactly these; `published` says which ones a
run under the protocol may be compared with, as far as their papers tell.
"""

from dataclasses import dataclass, field
from typing import Any

from agentquest.errors import UnknownName
from agentquest.registry import suggestion


@dataclass(frozen=True)
class Published:
    """Scores from a paper or repository, in percent: success unless the name says otherwise."""

    source: str
    setting: str
    scores: dict[str, float]


@dataclass(frozen=True)
class Protocol:
    name: str
    description: str
    settings: dict[str, Any]
    published: tuple[Published, ...] = field(default=())


_REACT = Published(
    "ReAct paper",
    "134 unseen, 2 examples, at most 49 turns",
    {"PaLM-540B best": 71, "PaLM-540B average": 57, "Act": 45, "BUTLER": 37},
)
# What would make it another list of tasks, or another prompt, under the same name.
_ALL_TASKS: dict[str, Any] = {"task_types": None, "num_games": None, "tasks": None}
_OUR_PROMPT: dict[str, Any] = {"agent.prompt_file": None}
_TABLE = (
    Protocol(
        "react-134",
        "All 134 unseen games as ReAct played them: dialect 0.3, 2 examples, 49 turns, "
        "the whole history in the prompt, no list of valid actions.",
        {
            "benchmark": "alfworld",
            "split": "valid_unseen",
            **_ALL_TASKS,
            "dialect": "0.3",
            "max_steps": 49,
            "agent.use_few_shot": True,
            "agent.num_examples": 2,
            "agent.history_length": 49,
            "agent.check_valid_actions": False,
            **_OUR_PROMPT,
        },
        (
            _REACT,
            Published("ReAct repository", "134 unseen", {"text-davinci-002": 78.4}),
            Published("Reflexion logs", "134 unseen, first trial", {"first trial": 62.7}),
        ),
    ),
    Protocol(
        "unseen-134",
        "All 134 unseen games, each in its file's own dialect, 50 steps.",
        {
            "benchmark": "alfworld",
            "split": "valid_unseen",
            **_ALL_TASKS,
            "dialect": None,
            "max_steps": 50,
            **_OUR_PROMPT,
        },
    ),
    Protocol(
        "seen-140",
        "All 140 seen games, 50 steps, as training papers report them.",
        {
            "benchmark": "alfworld",
            "split": "valid_seen",
            **_ALL_TASKS,
            "dialect": None,
            "max_steps": 50,
            **_OUR_PROMPT,
        },
        (
            Published(
                "GiGPO paper",
                "seen split, 50 steps",
                {"GPT-4o": 48.0, "Gemini-2.5-Pro": 60.3, "Qwen-7B": 14.8, "GiGPO": 90.8},
            ),
        ),
    ),
    Protocol(
        "train-200",
        "The 200 games of valid_train, as AgentGym evaluates.",
        {
            "benchmark": "alfworld",
            "split": "valid_train",
            **_ALL_TASKS,
            "dialect": None,
            **_OUR_PROMPT,
        },
        (
            Published(
                "AgentGym",
                "200 games of valid_train",
                {"GPT-4-Turbo": 67.5, "GPT-3.5": 26, "AgentEvol": 88},
            ),
        ),
    ),
    Protocol(
        "agentify-100",
        "100 unseen games spread over the six types, 50 steps, as the A2A assessment runs them.",
        {
            "benchmark": "alfworld",
            "split": "valid_unseen",
            **_ALL_TASKS,
            "num_games": 100,
            "seed": 42,
            "dialect": None,
            "max_steps": 50,
            **_OUR_PROMPT,
        },
        (
            Published(
                "agentify-alfworld README",
                "unseen, 100 games, 50 steps",
                {"gpt-4o-mini (about)": 25},
            ),
        ),
    ),
    Protocol(
        "webshop-500",
        "The 500 test goals in people's words, all products, 15 turns, as ReAct shopped; "
        "the score is the mean reward in percent.",
        {
            "benchmark": "webshop",
            "split": "test",
            **_ALL_TASKS,
            "dialect": None,
            "benchmark_settings.goals": "human",
            "benchmark_settings.size": "all",
            "benchmark_settings.strict": False,
            "benchmark_settings.seed": 0,
            "max_steps": 15,
            **_OUR_PROMPT,
        },
        (
            Published(
                "ReAct paper",
                "500 test goals, at most 15 turns",
                {
                    "PaLM-540B score": 66.6,
                    "PaLM-540B success": 40,
                    "imitation learning score": 59.9,
                    "imitation learning success": 29.1,
                    "human expert score": 82.1,
                    "human expert success": 59.6,
                },
            ),
            Published(
                "ReAct repository",
                "500 test goals",
                {"text-davinci-002 score": 63.8, "text-davinci-002 success": 35.8},
            ),
        ),
    ),
)
PROTOCOLS = {entry.name: entry for entry in _TABLE}


def protocol(name: str) -> Protocol:
    if name not in PROTOCOLS:
        raise UnknownName(f"{name!r} is not a protocol; {suggestion(name, list(PROTOCOLS))}")
    return PROTOCOLS[name]
