"""Named settings of ALFWorld: ours, and those of published numbers.

None of ours lists published scores: the papers at hand differ in what they show,
count or repair. ReAct's thoughts cost turns and stay in the prompt, its greeting
and `loc N` are taken away; GiGPO shows admissible commands, two turns of history,
and 128 games drawn with replacement; AgentGym cuts `loc N` and has another prompt;
agentify-alfworld repairs actions. Their scores next to ours would mislead.

The authors' own settings (ReAct, Reflexion, GiGPO, AgentGym, AgentBench, ETO, AgentBoard) come
with everything but their prompt texts, and replies are read as their functions read them; facts
are from their repositories.
"""

from typing import Any

from agentquest.protocols import ALL_TASKS, GIGPO_READING, OUR_PROMPT, PROMPTED, Protocol
from agentquest.records.manifest import PublishedScore


def _games(split: str, dialect: str | None = None, **limits: int) -> dict[str, Any]:
    """All games of a split, in one dialect or in each file's own."""
    return {
        "benchmark": "alfworld",
        "benchmark_settings.split": split,
        **ALL_TASKS,
        "benchmark_settings.dialect": dialect,
        **limits,
    }


def _ours(name: str, description: str, split: str, **limits: Any) -> Protocol:
    """All games of a split, each in its file's own dialect, with our prompts."""
    return Protocol(name, description, {**_games(split, **limits), **OUR_PROMPT})


UNSEEN_134_TWO_SHOT = Protocol(
    "unseen-134-two-shot",
    "All 134 unseen games in dialect 0.3: 2 examples, 49 turns, the whole history in the prompt, "
    "no list of valid actions. Near ReAct's setting, but thoughts cost no turns.",
    {
        **_games("valid_unseen", max_steps=49, dialect="0.3"),
        "agent.use_few_shot": True,
        "agent.num_examples": 2,
        "agent.history_length": 49,
        "agent.history_thoughts": True,
        "agent.check_valid_actions": False,
        **OUR_PROMPT,
    },
)
UNSEEN_134 = _ours(
    "unseen-134",
    "All 134 unseen games, each in its file's own dialect, 50 steps.",
    "valid_unseen",
    max_steps=50,
)
SEEN_140 = _ours("seen-140", "All 140 seen games, each once, 50 steps.", "valid_seen", max_steps=50)
TRAIN_200 = _ours(
    "train-200", "The 200 games of valid_train, which AgentGym evaluates on.", "valid_train"
)
AGENTIFY_100 = _ours(
    "agentify-100",
    "100 unseen games spread over the six types, 50 steps.",
    "valid_unseen",
    max_steps=50,
    num_games=100,
    seed=42,
)


# What most leave out: the greeting, an empty line above the task, and numbers of locations.
CUTS = [
    r"^-= Welcome to TextWorld, ALFRED! =-\n\n",
    r"\n(?=\nYour task is to: )",
    r"You arrive at loc \d+\. ",
]


GIGPO = Protocol(
    "gigpo-alfworld",
    "GiGPO's setting on all 140 seen games, each once: admissible commands shown, 2 turns of "
    "history, <think>/<action>, T 0.4, 512 tokens, 50 steps.",
    {
        **_games("valid_seen", max_steps=50),
        **GIGPO_READING,
        "agent.tail": 30,
        "agent.admissible_join": "\n ",
        "agent.admissible_without": ["help"],
        "agent.leave_out": [],
    },
    (
        PublishedScore(
            source="GiGPO",
            setting="drawn with replacement from these 140 games, so with a standard error of up to"
            " 4.4 points of its own",
            scores={"GiGPO 7B": 90.8},
            n=128,
            where="README, Results (a copy of langfengQ/verl-agent)",
            address="https://github.com/xlan156/verl-agent",
            looked_up="2026-11-18",
            verified=True,
        ),
        PublishedScore(
            source="GiGPO paper",
            setting="models that were not trained; how many games were played is not told",
            scores={"GPT-4o": 48.0, "Gemini-2.5-Pro": 60.3, "Qwen2.5-7B": 14.8},
            where="Table 1, page 7",
            address="https://arxiv.org/abs/2505.10978",
        ),
    ),
    needs={
        "agent.prompt_file": "the two templates of verl-agent's "
        "agent_system/environments/prompts/alfworld.py as [first] and [turn]; see docs/protocols.md"
    },
)
AGENTGYM_200 = Protocol(
    "agentgym-alfworld-200",
    "AgentGym's evaluation: the 200 games of valid_train in dialect 0.3, a chat, 30 rounds, "
    "greedy, `You arrive at loc N.` left out.",
    {
        **_games("valid_train", max_steps=30, dialect="0.3"),
        **PROMPTED,
        "agent.style": "chat",
        "agent.reader": "as_agentgym",
        "agent.read_cut_off": True,
        "agent.leave_out": CUTS,
        "llm.temperature": 0,
    },
    (
        PublishedScore(
            source="AgentGym paper",
            setting="the same 200 games and rounds",
            scores={"GPT-4-Turbo": 67.5, "GPT-3.5-Turbo": 26.0, "AgentEvol": 88.0},
            n=200,
            address="https://arxiv.org/abs/2406.04151",
        ),
    ),
    needs={
        "agent.prompt_file": "the conversation that AgentGym's client for ALFWorld begins with "
        "(agentenv/agentenv/envs/alfworld.py); see docs/protocols.md"
    },
)
AGENTBENCH_FC = Protocol(
    "agentbench-fc-alfworld",
    "AgentBench FC's 109 unseen games in dialect 0.3 by function calling, 20 rounds, admissible "
    "commands shown; `You arrive at loc N.` left out; actions are played as they are.",
    {
        "benchmark": "alfworld",
        "benchmark_settings.split": "valid_unseen",
        "benchmark_settings.task_types": None,
        "num_games": None,
        "benchmark_settings.dialect": "0.3",
        "max_steps": 20,
        **PROMPTED,
        "agent.style": "chat",
        "agent.reader": "as_agentbench",
        "agent.admissible_join": "\n",
        "agent.leave_out": CUTS,
        "agent.tools": [
            {
                "name": "take_action",
                "description": "Carry out one of the available actions.",
                "command": "<action>",
            }
        ],
    },
    refused={
        "AgentBench FC": "it replaces every action by the admissible command of highest BLEU, and "
        "ends a game after three equal outputs"
    },
    needs={
        "tasks": "the 109 games of AgentBench's data/alfworld/new_std.json, by id or unambiguous "
        "part of one",
        "agent.prompt_file": "AgentBench's system text and task message for ALFWorld; see "
        "docs/protocols.md",
    },
)


_REACT: dict[str, Any] = {
    **_games("valid_unseen", max_steps=49, dialect="0.3"),
    **PROMPTED,
    "agent.style": "message",
    "agent.reader": "as_react",
    "agent.read_cut_off": True,
    "agent.thought_turns": "think:",
    "agent.history_length": 49,
    "agent.leave_out": CUTS,
    "llm.temperature": 0,
}
_REACT_TEXTS = {
    "agent.prompt_file": "the frame of ReAct's prompt ($examples, $history, $observation); see "
    "docs/protocols.md",
    "agent.examples_file": "for each task type the two examples of ReAct's "
    "prompts/alfworld_3prompts.json; see docs/protocols.md",
}
REACT = Protocol(
    "react-alfworld",
    "ReAct as its authors play it: all 134 unseen games in dialect 0.3, two examples of the type, "
    "49 turns of which each `think:` costs one and is answered `OK.`, greedy, 100 tokens.",
    {**_REACT, "llm.max_tokens": 100},
    (
        PublishedScore(
            source="ReAct's repository",
            setting="the same games and turns",
            scores={"GPT-3 davinci-002": 78.4, "PaLM-540B (paper)": 70.9},
            n=134,
            where="README, Experiments",
            address="https://github.com/ysymyth/ReAct",
            looked_up="2026-11-18",
            verified=True,
        ),
    ),
    needs=_REACT_TEXTS,
)
REFLEXION = Protocol(
    "reflexion-alfworld",
    "Reflexion's first trial, without reflections: ReAct's setting with 256 tokens, and a game "
    "ends with the same action twice in a row.",
    {**_REACT, "agent.ends_on_repeat": True, "llm.max_tokens": 256},
    (
        PublishedScore(
            source="Reflexion's logs",
            setting="the first trial, 84 games won",
            scores={"ReAct as Reflexion ran it": 62.7},
            n=134,
            where="alfworld_runs/root/base_run_logs/env_results_trial_0.json",
            address="https://github.com/noahshinn/reflexion",
            looked_up="2026-11-18",
            verified=True,
        ),
    ),
    refused={
        "Reflexion after its later trials": "lost games are played again with the model's own "
        "reflections in the prompt"
    },
    needs=_REACT_TEXTS,
)

_ETO: dict[str, Any] = {
    **PROMPTED,
    "agent.style": "chat",
    "agent.reader": "as_eto",
    "agent.read_cut_off": True,
    "agent.leave_out": CUTS,
    "llm.temperature": 0,
    "llm.max_tokens": 512,
}
_ETO_TEXTS = {
    "agent.prompt_file": "ETO's observations and its message for a reply without an action as "
    "[first], [turn] and [unread]; see docs/protocols.md",
    "agent.opening_file": "the conversation that ETO begins with (eval_agent/prompt: instruction "
    "and example); see docs/protocols.md",
}


def _eto_scores(games: int, scores: dict[str, float]) -> PublishedScore:
    return PublishedScore(
        source="ETO paper",
        setting="the same games and steps",
        scores=scores,
        n=games,
        where="Table 2",
        address="https://arxiv.org/abs/2403.02502",
    )


ETO_SEEN = Protocol(
    "eto-alfworld-seen",
    "ETO's evaluation on all 140 seen games in dialect 0.3: a chat, 40 steps, greedy, 512 tokens, "
    "`You arrive at loc N.` left out.",
    {**_games("valid_seen", max_steps=40, dialect="0.3"), **_ETO},
    (_eto_scores(140, {"GPT-4": 42.9, "Llama-2-7B, ETO": 68.6}),),
    needs=_ETO_TEXTS,
)
ETO_UNSEEN = Protocol(
    "eto-alfworld-unseen",
    "ETO's evaluation on all 134 unseen games; otherwise as eto-alfworld-seen.",
    {**_games("valid_unseen", max_steps=40, dialect="0.3"), **_ETO},
    (_eto_scores(134, {"GPT-4": 38.1, "Llama-2-7B, ETO": 72.4}),),
    needs=_ETO_TEXTS,
)
AGENTBOARD = Protocol(
    "agentboard-alfworld",
    "AgentBoard's setting: all 134 unseen games in dialect 0.3, an example of the type, 30 steps, "
    "greedy, 100 tokens; its progress rate and grounding accuracy are metrics to add.",
    {
        **_games("valid_unseen", max_steps=30, dialect="0.3"),
        **PROMPTED,
        "agent.style": "message",
        "agent.reader": "as_agentboard",
        "agent.rewrite": [["put", " in ", " in/on "], ["put", " on ", " in/on "]],
        "agent.read_cut_off": True,
        "agent.history_length": 100,
        "agent.leave_out": [*CUTS, r"\n+Your task is to: [^\n]*"],
        "llm.temperature": 0,
        "llm.max_tokens": 100,
    },
    refused={
        "AgentBoard": "it answers `look` with what the last place looked like when it was reached, "
        "and `check valid actions` with a list"
    },
    needs={
        "agent.prompt_file": "AgentBoard's instruction and frame; see docs/protocols.md",
        "agent.examples_file": "for each task type the example of AgentBoard's "
        "agentboard/prompts/VanillaAgent/alfworld_base.json; see docs/protocols.md",
    },
)
