"""Prices are those of the table, with its date, unless the settings say otherwise."""

import re

import pytest

from agentquest.llms.anthropic import AnthropicSettings
from agentquest.llms.gemini import GeminiSettings
from agentquest.llms.openai_chat import OpenAISettings
from agentquest.llms.openai_responses import ResponsesSettings
from agentquest.llms.prices import PRICES_OF, Price, known_price
from agentquest.records.messages import Usage

OPENAI = "https://api.openai.com/v1"


def test_the_table_has_its_date() -> None:
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", PRICES_OF)


@pytest.mark.parametrize(
    ("base_url", "model", "known"),
    [
        (OPENAI, "gpt-4o-mini", True),
        (OPENAI, "gpt-4o-mini-2024-07-18", True),
        (OPENAI, "gpt-4o-mini-audio-preview", False),
        (OPENAI, "somebody/gpt-4o-mini", False),
        ("http://127.0.0.1:8000/v1", "gpt-4o-mini", False),
        ("https://api.openai.com.example/v1", "gpt-4o-mini", False),
    ],
)
def test_unknown_stays_unknown(base_url: str, model: str, known: bool) -> None:
    assert (known_price(base_url, model) is not None) is known


def test_each_provider_has_prices() -> None:
    assert ResponsesSettings(model="gpt-5").price == Price(1.25, 10.0, 0.125)
    claude = AnthropicSettings(model="claude-haiku-4-5-20251001").price
    assert claude is not None
    assert (claude.prompt, claude.cached, claude.cache_write) == (1.0, 0.1, 1.25)
    assert GeminiSettings(model="models/gemini-2.5-pro").price is not None


def test_the_settings_override_the_table() -> None:
    settings = ResponsesSettings(
        model="gpt-5",
        price_per_million_prompt=1.0,
        price_per_million_completion=2.0,
        price_per_million_cached=0.5,
    )
    assert settings.price == Price(1.0, 2.0, 0.5)
    assert OpenAISettings(model="gpt-5").price is None


def test_cached_and_written_tokens_have_their_own_price() -> None:
    usage = Usage(
        prompt_tokens=1_000_000,
        completion_tokens=100_000,
        cached_tokens=800_000,
        cache_write_tokens=100_000,
    )
    assert Price(3.0, 15.0).of(usage) == pytest.approx(3.0 + 1.5)
    marked = Price(3.0, 15.0, 0.3, 3.75).of(usage)
    assert marked == pytest.approx(0.1 * 3 + 0.8 * 0.3 + 0.1 * 3.75 + 1.5)


def test_a_prompt_longer_than_the_price_holds_for_costs_an_unknown_amount() -> None:
    price = Price(1.0, 1.0, longest_prompt=200_000)
    assert price.of(Usage(prompt_tokens=200_000, completion_tokens=0)) == 0.2
    assert price.of(Usage(prompt_tokens=200_001, completion_tokens=0)) is None
