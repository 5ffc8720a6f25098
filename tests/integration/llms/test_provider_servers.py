"""The test servers speak the real protocols: each provider's own client understands them."""

from typing import Any

import pytest

from chat_faults import Fault
from chat_server import ChatServer
from llm_servers.anthropic_messages import AnthropicServer
from llm_servers.gemini import GeminiServer
from llm_servers.responses import ResponsesServer
from said import Said

KEY = "sk-a-key-that-nobody-may-see"
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
ACTING = Said("Now.", thoughts="Hm, hm.", calls=(("act", '{"command": "look"}'),))


def acting(messages: list[dict[str, Any]]) -> Said:
    return ACTING


class TestChat:
    async def test_a_stream_is_what_openai_s_client_puts_together(self) -> None:
        openai = pytest.importorskip("openai", reason="openai is not installed")
        async with ChatServer(acting) as server:
            asking = openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0)
            async with (
                asking,
                asking.chat.completions.stream(
                    model="m",
                    messages=[{"role": "user", "content": "Act."}],
                    tools=[{"type": "function", "function": {"name": "act", "parameters": SCHEMA}}],
                    stream_options={"include_usage": True},
                ) as stream,
            ):
                completion = await stream.get_final_completion()
        (choice,) = completion.choices
        assert choice.message.content == "Now."
        assert choice.finish_reason == "tool_calls"
        assert choice.message.tool_calls[0].function.arguments == '{"command": "look"}'
        assert completion.usage.completion_tokens == ACTING.tokens


class TestResponses:
    async def test_a_response_is_a_valid_object(self) -> None:
        openai = pytest.importorskip("openai", reason="openai is not installed")
        from openai.types.responses import Response

        async with ResponsesServer(acting, api_key=KEY) as server:
            asking = openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0)
            async with asking:
                raw = await asking.responses.with_raw_response.create(
                    model="m",
                    input=[{"role": "user", "content": "Act."}],
                    tools=[
                        {"type": "function", "name": "act", "parameters": SCHEMA, "strict": False}
                    ],
                )
        # The client builds objects without looking; this looks.
        response = Response.model_validate_json(raw.text)
        assert response.output_text == "Now."
        assert [item.type for item in response.output] == ["reasoning", "message", "function_call"]
        assert response.usage is not None
        assert response.usage.output_tokens_details.reasoning_tokens == 2

    async def test_a_stream_is_what_openai_s_client_puts_together(self) -> None:
        openai = pytest.importorskip("openai", reason="openai is not installed")
        async with ResponsesServer(acting) as server:
            asking = openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0)
            texts = []
            async with asking:
                stream = await asking.responses.create(
                    model="m", input=[{"role": "user", "content": "Act."}], stream=True
                )
                async for event in stream:
                    if event.type == "response.output_text.delta":
                        texts.append(event.delta)
        assert "".join(texts) == "Now."
        assert event.type == "response.completed"
        assert event.response.output[2].arguments == '{"command": "look"}'

    async def test_faults_are_the_errors_they_mean_to_be(self) -> None:
        openai = pytest.importorskip("openai", reason="openai is not installed")
        kinds = {
            Fault.RATE_LIMIT: openai.RateLimitError,
            Fault.SERVER_ERROR: openai.InternalServerError,
            Fault.UNAUTHORIZED: openai.AuthenticationError,
            Fault.CONTEXT: openai.BadRequestError,
            Fault.NOT_FOUND: openai.NotFoundError,
        }
        for fault, kind in kinds.items():
            async with ResponsesServer(script=[fault]) as server:
                asking = openai.AsyncOpenAI(base_url=server.url, api_key=KEY, max_retries=0)
                async with asking:
                    with pytest.raises(kind):
                        await asking.responses.create(model="m", input="hi")


class TestAnthropic:
    async def test_a_message_is_a_valid_object(self) -> None:
        anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed")
        from anthropic.types import Message

        async with AnthropicServer(acting, api_key=KEY) as server:
            asking = anthropic.AsyncAnthropic(base_url=server.origin, api_key=KEY, max_retries=0)
            async with asking:
                raw = await asking.messages.with_raw_response.create(
                    model="m",
                    max_tokens=100,
                    messages=[{"role": "user", "content": "Act."}],
                    tools=[{"name": "act", "input_schema": SCHEMA}],
                )
        message = Message.model_validate_json(await raw.text())
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
        assert message.stop_reason == "tool_use"
        assert message.content[2].input == {"command": "look"}

    async def test_a_stream_is_what_anthropic_s_client_puts_together(self) -> None:
        anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed")
        async with AnthropicServer(acting) as server:
            asking = anthropic.AsyncAnthropic(base_url=server.origin, api_key=KEY, max_retries=0)
            async with (
                asking,
                asking.messages.stream(
                    model="m", max_tokens=100, messages=[{"role": "user", "content": "Act."}]
                ) as stream,
            ):
                message = await stream.get_final_message()
        thinking, text, call = message.content
        assert (thinking.thinking, thinking.signature) == ("Hm, hm.", "signed-1")
        assert text.text == "Now."
        assert call.input == {"command": "look"}
        assert message.usage.output_tokens == ACTING.tokens

    async def test_faults_are_the_errors_they_mean_to_be(self) -> None:
        anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed")
        kinds = {
            Fault.RATE_LIMIT: anthropic.RateLimitError,
            Fault.SERVER_ERROR: anthropic.InternalServerError,
            Fault.UNAUTHORIZED: anthropic.AuthenticationError,
            Fault.CONTEXT: anthropic.BadRequestError,
            Fault.NOT_FOUND: anthropic.NotFoundError,
        }
        for fault, kind in kinds.items():
            async with AnthropicServer(script=[fault]) as server:
                asking = anthropic.AsyncAnthropic(
                    base_url=server.origin, api_key=KEY, max_retries=0
                )
                async with asking:
                    with pytest.raises(kind):
                        await asking.messages.create(
                            model="m", max_tokens=9, messages=[{"role": "user", "content": "hi"}]
                        )


def google(server: GeminiServer) -> Any:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed")
    options = genai.types.HttpOptions(base_url=server.origin)
    return genai.Client(api_key=KEY, http_options=options)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of google's package, not of ours
class TestGemini:
    async def test_a_response_is_a_valid_object(self) -> None:
        async with GeminiServer(acting, api_key=KEY) as server:
            client = google(server)
            response = await client.aio.models.generate_content(model="m", contents="Act.")
            await client.aio.aclose()
        thought, text, call = response.candidates[0].content.parts
        assert (thought.text, thought.thought, text.text) == ("Hm, hm.", True, "Now.")
        assert call.function_call.args == {"command": "look"}
        assert call.thought_signature == b"signed"
        assert response.usage_metadata.thoughts_token_count == 2
        assert response.model_version == "m"

    async def test_a_stream_is_what_google_s_client_puts_together(self) -> None:
        async with GeminiServer(acting) as server:
            client = google(server)
            stream = await client.aio.models.generate_content_stream(model="m", contents="Act.")
            chunks = [chunk async for chunk in stream]
            await client.aio.aclose()
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
        assert "".join(part.text for part in parts if part.text and not part.thought) == "Now."
        assert parts[-1].function_call.name == "act"
        assert chunks[-1].candidates[0].finish_reason == "STOP"

    async def test_faults_are_the_errors_they_mean_to_be(self) -> None:
        errors = pytest.importorskip("google.genai.errors", reason="google-genai is not installed")
        for fault, code in {
            Fault.RATE_LIMIT: 429,
            Fault.CONTEXT: 400,
            Fault.NOT_FOUND: 404,
        }.items():
            async with GeminiServer(script=[fault] * 9) as server:
                client = google(server)
                with pytest.raises(errors.ClientError) as caught:
                    await client.aio.models.generate_content(model="m", contents="hi")
                await client.aio.aclose()
                assert caught.value.code == code
