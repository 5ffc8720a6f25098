"""Named settings of ALFWorld.

None of them lists published scores: the papers at hand differ in what they show,
count or repair. ReAct's thoughts cost turns and stay in the prompt, its greeting
and `loc N` are taken away; GiGPO shows admissible commands, two turns of history,
and 128 games drawn with replacement; AgentGym cuts `loc N` and has another prompt;
agentify-alfworld repairs actions. A score of theirs beside ours would mislead.
"""

from agentquest.protocols import ALL_TASKS, OUR_PROMPT, Protocol

UNSEEN_134_TWO_SHOT = Protocol(
    "unseen-134-two-shot",
    "All 134 unseen games in dialect 0.3: 2 examples, 49 turns, the whole history in the prompt, "
    "no list of valid actions. Near ReAct's setting, but thoughts cost no turns.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_unseen",
        **ALL_TASKS,
        "benchmark_settings.dialect": "0.3",
        "max_steps": 49,
        "agent.use_few_shot": True,
        "agent.num_examples": 2,
        "agent.history_length": 49,
        "agent.history_thoughts": True,
        "agent.check_valid_actions": False,
        **OUR_PROMPT,
    },
)
UNSEEN_134 = Protocol(
    "unseen-134",
    "All 134 unseen games, each in its file's own dialect, 50 steps.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_unseen",
        **ALL_TASKS,
        "benchmark_settings.dialect": None,
        "max_steps": 50,
        **OUR_PROMPT,
    },
)
SEEN_140 = Protocol(
    "seen-140",
    "All 140 seen games, each once, 50 steps.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_seen",
        **ALL_TASKS,
        "benchmark_settings.dialect": None,
        "max_steps": 50,
        **OUR_PROMPT,
    },
)
TRAIN_200 = Protocol(
    "train-200",
    "The 200 games of valid_train, which AgentGym evaluates on.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_train",
        **ALL_TASKS,
        "benchmark_settings.dialect": None,
        **OUR_PROMPT,
    },
)
AGENTIFY_100 = Protocol(
    "agentify-100",
    "100 unseen games spread over the six types, 50 steps.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_unseen",
        **ALL_TASKS,
        "num_games": 100,
        "seed": 42,
        "benchmark_settings.dialect": None,
        "max_steps": 50,
        **OUR_PROMPT,
    },
)
