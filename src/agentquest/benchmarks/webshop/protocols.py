"""Named settings of WebShop, and the published scores that they may be compared with.

Facts about others' settings are from their authors' repositories: verl-agent (GiGPO),
AgentGym, AgentBench, ETO. They contain everything but the authors' prompt texts. ReAct's
scores are not among them: it writes its own texts for pages, with fewer products.
"""

from typing import Any, Literal

from agentquest.benchmarks.webshop.tasks import AS_PUBLISHED
from agentquest.protocols import ALL_TASKS, GIGPO_READING, OUR_PROMPT, PROMPTED, Protocol
from agentquest.records.manifest import PublishedScore


def _baselines(metric: Literal["success", "reward"], scores: dict[str, float]) -> PublishedScore:
    return PublishedScore(
        source="ReAct paper, baselines it cites",
        setting="the same 500 goals, not played by a prompted language model",
        scores=scores,
        metric=metric,
        n=500,
        where="Table 4",
        address="https://arxiv.org/abs/2210.03629",
    )


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
        _baselines("success", {"imitation learning": 29.1, "human expert": 59.6}),
        _baselines("reward", {"imitation learning": 59.9, "human expert": 82.1}),
    ),
)


_SHOP: dict[str, Any] = {
    "benchmark": "webshop",
    "benchmark_settings.split": "test",
    **ALL_TASKS,
    "benchmark_settings.strict": False,
    "benchmark_settings.seed": 0,
    **PROMPTED,
    "agent.leave_out": [],
}
_SMALL: dict[str, Any] = {
    "benchmark_settings.goals": "synthetic",
    "benchmark_settings.size": "small",
}
_GIGPO: dict[str, Any] = {
    **_SHOP,
    **_SMALL,
    **GIGPO_READING,
    "max_steps": 15,
    "agent.tail": 20,
    "agent.admissible_join": "\n",
    "agent.admissible_without": [],
    "agent.pieces": " [SEP] ",
    "agent.longest_prompt": 13_000,
}
_GIGPO_PROMPT = {
    "agent.prompt_file": "the two templates of verl-agent's "
    "agent_system/environments/prompts/webshop.py as [first] and [turn]; see docs/protocols.md"
}


def _untrained_scores(setting: str) -> tuple[PublishedScore, ...]:
    """What GiGPO's paper says of models that were not trained."""
    tables: dict[Literal["success", "reward"], dict[str, float]] = {
        "success": {"GPT-4o": 23.7, "Gemini-2.5-Pro": 35.9, "Qwen2.5-7B": 7.8},
        "reward": {"GPT-4o": 31.8, "Gemini-2.5-Pro": 42.5, "Qwen2.5-7B": 26.4},
    }
    return tuple(
        PublishedScore(
            source="GiGPO paper, models that were not trained",
            setting=setting,
            scores=scores,
            metric=metric,
            where="Table 1, page 7",
            address="https://arxiv.org/abs/2505.10978",
        )
        for metric, scores in tables.items()
    )


GIGPO = Protocol(
    "gigpo-webshop",
    "GiGPO's setting without its leak: the 500 test goals, which nobody trains on, 1,000 products, "
    "2 turns of history, <think>/<action>, T 0.4, 512 tokens, 15 steps.",
    {**_GIGPO, "benchmark_settings.numbers": None},
    _untrained_scores("goals of the same catalogue, drawn across splits"),
    refused={
        "GiGPO's trained models (success 75.2)": "every worker shuffled the goals by its own seed, "
        "so they were validated on goals of their training"
    },
    needs=_GIGPO_PROMPT,
)
GIGPO_AS_PUBLISHED = Protocol(
    "gigpo-webshop-as-published",
    "GiGPO's setting with its own 128 validation goals, most of which its training has seen.",
    {**_GIGPO, "benchmark_settings.numbers": AS_PUBLISHED},
    (
        PublishedScore(
            source="GiGPO",
            setting="the goals of one of its two validation rounds, each once; trained models have"
            " seen most of them",
            scores={"GiGPO 7B": 75.2},
            n=128,
            where="README, Results (a copy of langfengQ/verl-agent)",
            address="https://github.com/xlan156/verl-agent",
            looked_up="2026-11-18",
            verified=True,
        ),
        *_untrained_scores("the goals of one of its two validation rounds, each once"),
    ),
    needs=_GIGPO_PROMPT,
)
AGENTGYM_200 = Protocol(
    "agentgym-webshop-200",
    "AgentGym's evaluation: its 200 synthetic goals in 1,000 products, a chat, 10 rounds, greedy.",
    {
        **_SHOP,
        **_SMALL,
        "max_steps": 10,
        "agent.style": "chat",
        "agent.reader": "as_agentgym",
        "agent.read_cut_off": True,
        "llm.temperature": 0,
    },
    (
        PublishedScore(
            source="AgentGym paper",
            setting="the same 200 goals and rounds",
            scores={"GPT-4-Turbo": 15.5, "GPT-3.5-Turbo": 12.5, "AgentEvol": 76.5},
            n=200,
            address="https://arxiv.org/abs/2406.04151",
        ),
    ),
    needs={
        "benchmark_settings.numbers": "the 200 numbers of AgentEval's webshop_test.json "
        "(`webshop_N` is goal N)",
        "agent.prompt_file": "the conversation that AgentGym's client for WebShop begins with "
        "(agentenv/agentenv/envs/webshop.py); see docs/protocols.md",
    },
)
AGENTBENCH_FC = Protocol(
    "agentbench-fc-webshop",
    "AgentBench FC: goals 0-199 in people's words, all products, by function calling, 20 rounds; "
    "the score is the mean reward in percent.",
    {
        **_SHOP,
        "benchmark_settings.goals": "human",
        "benchmark_settings.size": "all",
        "benchmark_settings.numbers": "0-199",
        "max_steps": 20,
        "agent.style": "chat",
        "agent.reader": "as_agentbench_tools",
        "agent.tools": [
            {
                "name": "search_action",
                "description": "Look for products.",
                "command": "search[<keywords>]",
            },
            {
                "name": "click_action",
                "description": "Press something that the page offers.",
                "command": "click[<value>]",
            },
        ],
    },
    (
        PublishedScore(
            source="AgentBench FC",
            setting="the same 200 goals and rounds; 0 where nothing was bought",
            scores={
                "Claude-Sonnet-4 (2025-05-14)": 34.6,
                "GPT-5 (2025-08-07)": 33.7,
                "Qwen2.5-72B-Instruct": 35.4,
                "GPT-4o (2024-11-20)": 27.8,
            },
            metric="reward",
            n=200,
            where="assets/fc_leaderboard.png",
            address="https://github.com/THUDM/AgentBench",
            looked_up="2026-11-18",
            verified=True,
        ),
    ),
    needs={
        "agent.prompt_file": "AgentBench's system text and task message for WebShop; see "
        "docs/protocols.md"
    },
)
ETO_200 = Protocol(
    "eto-webshop-200",
    "ETO's evaluation: its 200 goals in people's words, all products, a chat, 10 steps, greedy, "
    "512 tokens; the score is the mean reward in percent.",
    {
        **_SHOP,
        "benchmark_settings.goals": "human",
        "benchmark_settings.size": "all",
        "max_steps": 10,
        "agent.style": "chat",
        "agent.reader": "as_eto_blank",
        "agent.read_cut_off": True,
        "llm.temperature": 0,
        "llm.max_tokens": 512,
    },
    (
        PublishedScore(
            source="ETO paper",
            setting="the same 200 goals and steps",
            scores={"GPT-4": 63.2, "Llama-2-7B, ETO": 67.4},
            metric="reward",
            n=200,
            where="Table 2",
            address="https://arxiv.org/abs/2403.02502",
        ),
    ),
    needs={
        "benchmark_settings.numbers": "the 200 numbers of ETO's "
        "eval_agent/data/webshop/test_indices.json",
        "agent.prompt_file": "ETO's observations and its message for a reply without an action as "
        "[first], [turn] and [unread]; see docs/protocols.md",
        "agent.opening_file": "the conversation that ETO begins with (eval_agent/prompt: "
        "instruction and example); see docs/protocols.md",
    },
)
