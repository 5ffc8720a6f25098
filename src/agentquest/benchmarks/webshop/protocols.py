"""Named settings of WebShop, and the published scores that they may be compared with.

ReAct's scores on these goals are not among them: its thoughts cost turns.
"""

from agentquest.protocols import ALL_TASKS, OUR_PROMPT, Protocol, Published

WEBSHOP_500 = Protocol(
    "webshop-500",
    "The 500 test goals in people's words, all products, 15 turns; "
    "the score is the mean reward in percent.",
    {
        "benchmark": "webshop",
        "benchmark_settings.split": "test",
        **ALL_TASKS,
        "benchmark_settings.goals": "human",
        "benchmark_settings.size": "all",
        "benchmark_settings.strict": False,
        "benchmark_settings.seed": 0,
        "max_steps": 15,
        **OUR_PROMPT,
    },
    (
        Published(
            "ReAct paper, baselines it cites",
            "the same 500 goals, not played by a prompted language model",
            {
                "imitation learning score": 59.9,
                "imitation learning success": 29.1,
                "human expert score": 82.1,
                "human expert success": 59.6,
            },
        ),
    ),
)
