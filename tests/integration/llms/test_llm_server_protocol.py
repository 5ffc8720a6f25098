"""The test server speaks the real protocol: OpenAI's own client understands it."""

from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion

from chat_faults import Fault
from chat_server import ChatServer, server_process

KEY = "sk-a-key-that-nobody-may-see"


def client(url: str, **options: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0, **options)


async def ask(url: str, text: str = "say this", **options: Any) -> ChatCompletion:
    async with client(url, **options) as asking:
        raw = await asking.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": text}], temperature=0.0
        )
        # The client builds objects without looking; this looks.
        return ChatCompletion.model_validate_json(raw.text)


async def test_a_completion_is_a_valid_object() -> None:
    async with ChatServer(api_key=KEY) as server:
        completion = await ask(server.url)
    assert completion.object == "chat.completion"
    assert completion.model == "m"
    assert completion.choices[0].message.content == "say this"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.total_tokens == 4
    assert server.requests[0]["messages"] == [{"role": "user", "content": "say this"}]


@pytest.mark.parametrize(
    ("fault", "finish_reason"),
    [
        (Fault.LENGTH, "length"),
        (Fault.THINK_CUT, "length"),
        (Fault.THINK_TAGS, "stop"),
        (Fault.REASONING, "stop"),
        (Fault.EMPTY, "stop"),
        (Fault.NO_USAGE, "stop"),
        (Fault.HUGE, "stop"),
        (Fault.WRONG_TYPE, "stop"),
    ],
)
async def test_odd_replies_are_valid_objects_too(fault: Fault, finish_reason: str) -> None:
    async with ChatServer(script=[fault]) as server:
        completion = await ask(server.url)
    assert completion.choices[0].finish_reason == finish_reason
    assert server.served == {fault: 1}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.RATE_LIMIT, openai.RateLimitError),
        (Fault.RATE_LIMIT_SECONDS, openai.RateLimitError),
        (Fault.RATE_LIMIT_DATE, openai.RateLimitError),
        (Fault.NO_CREDIT, openai.RateLimitError),
        (Fault.SERVER_ERROR, openai.InternalServerError),
        (Fault.OVERLOADED, openai.InternalServerError),
        (Fault.UNAUTHORIZED, openai.AuthenticationError),
        (Fault.BAD_REQUEST, openai.BadRequestError),
        (Fault.CONTEXT, openai.BadRequestError),
        (Fault.NOT_FOUND, openai.NotFoundError),
        (Fault.RESET, openai.APIConnectionError),
        (Fault.CUT_BODY, openai.APIConnectionError),
        (Fault.HANG, openai.APITimeoutError),
    ],
)
async def test_faults_are_the_errors_they_mean_to_be(fault: Fault, error: type[Exception]) -> None:
    async with ChatServer(script=[fault]) as server:
        with pytest.raises(error):
            await ask(server.url, timeout=0.5 if fault is Fault.HANG else 30.0)


async def test_openai_s_client_comes_back_when_it_is_told_to() -> None:
    script = [Fault.RATE_LIMIT_MS, Fault.RATE_LIMIT_SECONDS, Fault.SERVER_ERROR]
    async with ChatServer(script=script, retry_after=0.01) as server:
        async with openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=3) as asking:
            completion = await asking.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}]
            )
        assert completion.choices[0].message.content == "hi"
        assert server.count == 4


async def test_a_wrong_key_and_a_wrong_request_are_refused() -> None:
    async with ChatServer(api_key="another") as server:
        with pytest.raises(openai.AuthenticationError):
            await ask(server.url)
        async with client(server.url) as asking:
            with pytest.raises(openai.BadRequestError):
                await asking.chat.completions.create(model="m", messages=[])


async def test_the_same_seed_gives_the_same_faults() -> None:
    served = []
    for _ in range(2):
        rates = {Fault.SERVER_ERROR: 0.3, Fault.EMPTY: 0.2}
        async with ChatServer(rates=rates, seed=3) as server, client(server.url) as asking:
            outcomes = []
            for _ in range(30):
                try:
                    completion = await asking.chat.completions.create(
                        model="m", messages=[{"role": "user", "content": "hi"}]
                    )
                    outcomes.append(completion.choices[0].message.content)
                except openai.InternalServerError:
                    outcomes.append(None)
        served.append(outcomes)
    assert served[0] == served[1]
    assert {"hi", "", None} == set(served[0])


async def test_it_runs_as_a_process_of_its_own() -> None:
    with server_process("--answer", "text:ACTION: look", "--latency", "0.01") as url:
        completion = await ask(url)
    assert completion.choices[0].message.content == "ACTION: look"
