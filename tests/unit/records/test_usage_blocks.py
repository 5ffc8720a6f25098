"""Usage blocks as providers and frameworks document them, with the tokens and costs they mean."""

from typing import Any

import pytest

from agentquest.llms.prices import PRICES_OF, known_price
from agentquest.records.episode import REPORTED, read_call
from agentquest.records.usage import Price, Usage, read_cost, read_usage

# Where each block is documented; numbers as there.
XAI = {  # docs.x.ai, guide to reasoning: the total is prompt, completion and reasoning
    "prompt_tokens": 32,
    "completion_tokens": 9,
    "total_tokens": 135,
    "prompt_tokens_details": {"text_tokens": 32, "audio_tokens": 0, "cached_tokens": 6},
    "completion_tokens_details": {"reasoning_tokens": 94, "audio_tokens": 0},
    "num_sources_used": 0,
}
XAI_WITH_COST = {  # a bill that xAI itself stated, in ticks of 1e-10 dollars
    "prompt_tokens": 10120,
    "completion_tokens": 1499,
    "total_tokens": 14428,
    "prompt_tokens_details": {"cached_tokens": 128},
    "completion_tokens_details": {"reasoning_tokens": 2809},
    "cost_in_usd_ticks": 232856000,
}
OPENAI = {  # platform.openai.com, API reference of chat completions
    "prompt_tokens": 19,
    "completion_tokens": 10,
    "total_tokens": 29,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 4, "accepted_prediction_tokens": 0},
}
RESPONSES = {  # platform.openai.com, API reference of Responses
    "input_tokens": 36,
    "input_tokens_details": {"cached_tokens": 12},
    "output_tokens": 87,
    "output_tokens_details": {"reasoning_tokens": 40},
    "total_tokens": 123,
}
OPENROUTER = {  # openrouter.ai, usage accounting: 0.95 is its fee, 19 the provider's price
    "completion_tokens": 2,
    "completion_tokens_details": {"reasoning_tokens": 0},
    "cost": 0.95,
    "cost_details": {"upstream_inference_cost": 19},
    "prompt_tokens": 194,
    "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 100, "audio_tokens": 0},
    "total_tokens": 196,
}
ANTHROPIC = {  # docs.claude.com, prompt caching: three parts of the prompt, side by side
    "input_tokens": 2048,
    "cache_read_input_tokens": 1800,
    "cache_creation_input_tokens": 248,
    "output_tokens": 503,
    "cache_creation": {"ephemeral_5m_input_tokens": 148, "ephemeral_1h_input_tokens": 100},
}
GEMINI = {  # ai.google.dev, GenerateContentResponse: thoughts beside the candidates
    "promptTokenCount": 100,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 40,
    "cachedContentTokenCount": 64,
    "totalTokenCount": 145,
}
LANGCHAIN = {  # reference.langchain.com, UsageMetadata
    "input_tokens": 350,
    "output_tokens": 240,
    "total_tokens": 590,
    "input_token_details": {"audio": 10, "cache_creation": 200, "cache_read": 100},
    "output_token_details": {"audio": 10, "reasoning": 200},
}
LITELLM = {  # docs.litellm.ai: OpenAI's counts, with Anthropic's beside them
    "prompt_tokens": 4096,
    "completion_tokens": 503,
    "total_tokens": 4599,
    "prompt_tokens_details": {"cached_tokens": 1800},
    "cache_read_input_tokens": 1800,
    "cache_creation_input_tokens": 248,
}


def used(
    prompt: int, completion: int, reasoning: int = 0, cached: int = 0, written: int = 0
) -> Usage:
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        cached_tokens=cached,
        cache_write_tokens=written,
    )


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (XAI, used(32, 103, 94, 6)),
        (XAI_WITH_COST, used(10120, 4308, 2809, 128)),
        (OPENAI, used(19, 10, 4)),
        (RESPONSES, used(36, 87, 40, 12)),
        (OPENROUTER, used(194, 2, 0, 0, 100)),
        (ANTHROPIC, used(4096, 503, 0, 1800, 248)),
        (GEMINI, used(100, 45, 40, 64)),
        ({"promptTokenCount": 9, "thoughtsTokenCount": 7}, used(9, 7, 7)),
        ({"prompt_token_count": 9, "candidates_token_count": 7}, used(9, 7)),
        (LANGCHAIN, used(350, 240, 200, 100, 200)),
        (LITELLM, used(4096, 503, 0, 1800)),
        ({"prompt_tokens": 7.0, "completion_tokens": 2.0}, used(7, 2)),
        ({"prompt_tokens": 7}, None),
        ({"prompt_tokens": 10**400, "completion_tokens": 2}, None),
        ({"input_tokens": 10**9, "cache_read_input_tokens": 1, "output_tokens": 1}, None),
        ("many", None),
    ],
)
def test_what_a_block_means(block: Any, expected: Usage | None) -> None:
    assert read_usage(block) == expected


@pytest.mark.parametrize(
    ("block", "cost"),
    [
        (OPENROUTER, 19.95),
        ({**OPENROUTER, "is_byok": True}, 19.95),
        ({"cost": 0.5, "is_byok": False, "cost_details": {"upstream_inference_cost": 0.5}}, 0.5),
        ({"cost": 0.5, "cost_details": {"upstream_inference_cost": None}}, 0.5),
        (XAI_WITH_COST, 0.0232856),
        ({"cost_in_usd_ticks": 10**400}, None),
        ({"cost_in_usd_ticks": -1}, None),
        ({"cost": 1.7e308}, None),
        (XAI, None),
    ],
)
def test_what_a_server_says_that_a_call_cost(block: Any, cost: float | None) -> None:
    assert read_cost(block) == (cost if cost is None else pytest.approx(cost))


def test_reasoning_beside_the_completion_is_paid_for() -> None:
    usage = read_usage({**XAI_WITH_COST, "cost_in_usd_ticks": None})
    assert usage is not None
    assert Price(1.25, 2.5, cached=0.2).of(usage) == pytest.approx(0.0232856)


def test_written_cache_tokens_are_paid_for_at_their_price() -> None:
    usage = read_usage(ANTHROPIC)
    assert usage is not None
    paid = Price(3.0, 15.0, 0.3, 3.75).of(usage)
    assert paid == pytest.approx((2048 * 3 + 1800 * 0.3 + 248 * 3.75 + 503 * 15) / 1e6)


def test_a_call_that_an_agent_reports() -> None:
    flat = read_call({"model": "m", "prompt_tokens": 7, "completion_tokens": 2, "cost": 0.5})
    nested = read_call({"model": "m", "usage": LANGCHAIN, "latency_s": 0.25})
    assert flat is not None
    assert nested is not None
    assert (flat.kind, flat.usage, flat.cost, flat.latency_s) == (REPORTED, used(7, 2), 0.5, None)
    assert (nested.usage, nested.cost, nested.latency_s) == (
        used(350, 240, 200, 100, 200),
        None,
        0.25,
    )
    assert read_call(["m"]) is None


def test_every_price_of_the_table_says_where_it_is_from_and_when() -> None:
    price = known_price("https://api.openai.com/v1", "gpt-4o-2024-05-13")
    assert price == Price(5.0, 15.0)
    assert known_price("https://api.openai.com/v1", "gpt-4o-2024-08-06") == Price(2.5, 10.0, 1.25)
    for host, model in (
        ("api.openai.com", "gpt-5"),
        ("api.anthropic.com", "claude-sonnet-4-5"),
        ("generativelanguage.googleapis.com", "gemini-2.5-pro"),
    ):
        found = known_price(f"https://{host}/v1", model)
        assert found is not None
        assert found.source.startswith("https://")
        assert found.date == PRICES_OF
