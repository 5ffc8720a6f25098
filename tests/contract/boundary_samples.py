"""What every boundary reads when all is well, and what was made to harm."""

from typing import Any

from agentquest.benchmarks.alfworld.homes import game, game_ids

ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    "",
    "\ud800",
    "\x1b]52;c;x\x07",
    "9" * 5000,
    "NaN",
    [],
    {},
    [[]],
    [None],
    {"": None},
    {"a": {"a": {}}},
    "x" * 70_000,
    "../../etc/passwd",
]
_DEEP = 100_000
_BOMB = b"a: &a [1,1,1,1,1,1,1,1,1]\n" + b"".join(
    b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(9)
)
HARM = [
    b'{"results": [{"result": {"reward": NaN}}, {"result": {"reward": 1e400}}]}',
    b'{"results": [{"result": {"reward": %d}}]}' % 10**400,
    b'{"jsonrpc": "2.0", "id": -Infinity, "method": "ping"}',
    b"",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf{}",
    b"null",
    b"NaN",
    b"[]",
    b'"text"',
    b"1" * 5000,
    b"[" * _DEEP,
    b'{"a":' * _DEEP,
    b"(" * _DEEP,
    b"[" * 500 + b"]" * 500,
    b'{"a":' * 500 + b"1" + b"}" * 500,
    b"\n" * 1000,
    b'"\\ud800"',
    b'{"\\ud800": "\\udfff"}',
    b"a: &a [*a]",
    b"? [a]\n: b",
    _BOMB,
    b"when: 2020-13-45",
    b"<env_config>" * 1000,
    b"data: {\n\n" * 200,
    b"data: [DONE]\n\n",
]

HOME = game(game_ids("valid_unseen")[0])
PRODUCT = {
    "asin": "B000000001",
    "name": "Canvas Backpack",
    "category": "fashion",
    "query": "backpacks",
    "product_category": "Bags › Travel",
    "full_description": "Made for wet days.",
    "small_description": ["Cloth"],
    "pricing": "$10.00",
    "images": ["https://x/y.jpg"],
    "customization_options": {"color": [{"value": "navy", "image": None}], "size": None},
}
TALK = {
    "jsonrpc": "2.0",
    "id": "1",
    "result": {
        "kind": "task",
        "id": "t",
        "contextId": "c",
        "metadata": {"usage": [{"model": "m", "prompt_tokens": 3}]},
        "status": {
            "state": "completed",
            "message": {"role": "agent", "parts": [{"kind": "text", "text": "look"}]},
        },
        "history": [
            {
                "role": "agent",
                "messageId": "m2",
                "parts": [{"kind": "data", "data": {"action": "look"}}],
            }
        ],
        "artifacts": [{"artifactId": "a", "parts": [{"text": "look"}]}],
    },
}
CARD = {
    "name": "somebody",
    "url": "http://127.0.0.1:9000/",
    "protocolVersion": "0.3.0",
    "preferredTransport": "JSONRPC",
    "capabilities": {"streaming": True, "extensions": [{"uri": "x", "params": {"launch_id": "y"}}]},
    "supportedInterfaces": [{"url": "http://127.0.0.1:9000/", "protocolBinding": "JSONRPC"}],
}
REQUEST = {
    "participants": {"agent": "http://127.0.0.1:9000/"},
    "config": {"benchmark": "alfworld", "num_instances": 3},
}
CHAT = {
    "model": "m",
    "choices": [
        {
            "message": {
                "content": "hi",
                "tool_calls": [{"id": "1", "function": {"name": "act", "arguments": "{}"}}],
            },
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
}
RESPONSE = {
    "model": "m",
    "status": "completed",
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "hi"}]},
        {"type": "function_call", "call_id": "c", "name": "act", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
ANTHROPIC = {
    "model": "m",
    "content": [
        {"type": "thinking", "thinking": "x", "signature": "s"},
        {"type": "text", "text": "hi"},
        {"type": "tool_use", "id": "1", "name": "act", "input": {}},
    ],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 1, "output_tokens": 2},
}
MESSAGE_EVENTS = [
    {"type": "message_start", "message": {"model": "m", "content": [], "usage": {}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "thinking_delta", "thinking": "x"},
    },
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "signature_delta", "signature": "s"},
    },
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "hi"}},
    {"type": "content_block_stop", "index": 1},
    {
        "type": "content_block_start",
        "index": 2,
        "content_block": {"type": "tool_use", "id": "1", "name": "act", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 2,
        "delta": {"type": "input_json_delta", "partial_json": "{}"},
    },
    {"type": "content_block_stop", "index": 2},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn"},
        "usage": {"input_tokens": 1, "output_tokens": 2},
    },
    {"type": "message_stop"},
]
USAGE = {
    "model": "m",
    "usage": {
        "prompt_tokens": 1,
        "completion_tokens": 2,
        "total_tokens": 6,
        "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 3},
        "cost": 0.5,
        "cost_details": {"upstream_inference_cost": 19},
    },
    "latency_s": 0.5,
}
GEMINI = {
    "modelVersion": "m",
    "candidates": [
        {
            "content": {"parts": [{"text": "hi"}, {"functionCall": {"name": "act", "args": {}}}]},
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2},
}


INSTRUCTIONS = {
    "B000000001": {"attributes": ["light"], "instruction": "x", "instruction_attributes": []}
}
PEOPLES = {
    "B000000001": [
        {
            "instruction": "i want a backpack.",
            "instruction_attributes": ["light"],
            "instruction_options": ["navy"],
        }
    ]
}
PROTOCOL = b"""name: mine
description: As in my paper.
settings: {max_steps: 9, agent: {name: prompted, prompt_file: mine.txt}, llm.temperature: 0}
published: [{source: my paper, setting: the same, scores: {mine: 12.5}, n: 2}]
refused: {their paper: it counts otherwise}
needs: {}
"""
TAGGED = b"<white_agent_url>http://127.0.0.1:1/</white_agent_url>\n<env_config>{}</env_config>"

# Servers for other frameworks: what opens a game, then requests by server and path.
OPENINGS: dict[str, dict[str, Any]] = {
    "AgentBench": {"/api/start_sample": {"index": 0, "session_id": 7}},
    "AgentGym": {"/create": {}, "/reset": {"id": 0, "game": 0, "world_type": "Text"}},
    "AgentGym's shop": {"/create": {}, "/reset": {"env_idx": 0, "session_id": 1}},
}
_LOOK = {"name": "take_action", "arguments": '{"action": "look"}'}
_ACT = {"name": "act", "arguments": {"command": "look"}}
_RPC = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": _ACT}
_RESET = {"seed": 1, "episode_id": "x", "index": 0, "split": "valid_seen", "oracle": True}
_STEP = {"command": "look", "metadata": {}}
REQUESTS: list[tuple[str, str, Any]] = [
    ("AgentBench", "/api/start_sample", {"index": 0}),
    (
        "AgentBench",
        "/api/interact",
        {"session_id": 7, "messages": [{"tool_calls": [{"id": "c", "function": _LOOK}]}]},
    ),
    ("AgentBench", "/api/calculate_overall", {"results": [{"result": {"reward": 0.5}}]}),
    ("AgentGym", "/reset", {"id": 0, "game": 0, "world_type": "Text"}),
    ("AgentGym", "/step", {"id": 0, "action": "look"}),
    ("AgentGym's shop", "/reset", {"env_idx": 0, "session_id": 1}),
    ("AgentGym's shop", "/step", {"env_idx": 0, "action": "search[lamp]"}),
    ("OpenEnv", "/reset", _RESET),
    ("OpenEnv", "/step", {"action": _STEP}),
    ("OpenEnv", "/mcp", _RPC),
    ("OpenEnv", "/alfworld/task_range", {"split": "valid_seen", "start": 0, "stop": 3}),
]
FRAMES: list[dict[str, Any]] = [
    {"type": "reset", "data": _RESET},
    {"type": "step", "data": _STEP},
    {"type": "mcp", "data": _RPC},
]
