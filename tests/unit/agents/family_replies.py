"""Replies in the habits of twelve families of models, and what a fair person reads in them.

Every family has its own markup of thoughts, turns and calls, which servers remove or let
through; below are both. `CALLS` are replies by native tool calling.
"""

from typing import NamedTuple

from unit.agents.reply_table import GO, Row

TAKE = "take book 1 from desk 1"

GPT = [
    Row("THINK: The desk is near.\nACTION: go to desk 1", GO, "exact", "as asked"),
    Row("**THINK:** The desk.\n\n**ACTION:** `go to desk 1`", GO, "undecorated", "Markdown"),
    Row("THINK: a\n\nACTION: go to desk 1\n", GO, "exact", "an empty line between"),
    Row("Sure! Here's my next move.\n\nACTION: look", "look", "exact", "a greeting before"),
    Row("ACTION: look\n\nLet me know how it goes!", "look", "exact", "a greeting behind"),
    Row("**Thought:** x\n**Action:** look\n**Observation:** …", "look", "exact", "goes on"),
    Row("1. **THINK:** x\n2. **ACTION:** look", "look", "inline", "a list of two parts"),
    Row("```\nACTION: go to desk 1\n```", GO, "exact", "in a block"),
    Row('{"thought": "near", "action": "go to desk 1"}', GO, "json", "structured output"),
    Row('```json\n{"action": "look"}\n```', "look", "json", "structured, in a block"),
    Row("ACTION: “look”", "look", "undecorated", "typographic quotes"),
    Row("THINK: I’ll look—then decide.\nACTION: look", "look", "exact", "typographic marks"),
    Row("I’m sorry, but I can’t assist with that request.", None, "missing", "a refusal"),
]
GPT_OSS = [
    Row(
        "<|channel|>analysis<|message|>We should go.<|end|><|start|>assistant"
        "<|channel|>final<|message|>THINK: near\nACTION: go to desk 1<|return|>",
        *(GO, "exact", "the final channel"),
    ),
    Row(
        "<|channel|>analysis<|message|>ACTION: look is bad<|end|><|start|>assistant"
        "<|channel|>final<|message|>ACTION: go to desk 1",
        *(GO, "exact", "nothing in the analysis is an action"),
    ),
    Row("<|channel|>analysis<|message|>ACTION: look", None, "missing", "never got to the answer"),
    Row("<|channel|>analysis<|message|>hm<|end|>", None, "missing", "thought, and said nothing"),
    Row("<|channel|>final<|message|>ACTION: look", "look", "exact", "only the final channel"),
    Row("<|channel|>final<|message|>look<|return|>", "look", "bare", "bare, in the final one"),
    Row(
        "<|start|>assistant<|channel|>commentary<|message|>I look first.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>ACTION: go to desk 1<|return|>",
        *(GO, "exact", "a comment before it"),
    ),
    Row(
        "<|channel|>commentary to=functions.act <|constrain|>json<|message|>"
        '{"action": "look"}<|call|>',
        *("look", "json", "a call that the server let through"),
    ),
    Row("analysisI should look.assistantfinalACTION: look", "look", "exact", "marks removed"),
    Row("analysisACTION: go?assistantfinalTHINK: a\nACTION: look", "look", "exact", "the same"),
    Row("analysis of the room: nothing. ACTION: look", "look", "inline", "a sentence"),
    Row("<|channel|>final <|message|>**ACTION:** look", "look", "exact", "a space in the header"),
]
CLAUDE = [
    Row("<thinking>\nhm\n</thinking>\nACTION: go to desk 1", GO, "exact", "thinking in tags"),
    Row(
        "<thinking>\nACTION: look would be bad\n</thinking>\n<action>go to desk 1</action>",
        *(GO, "tag", "nothing in the thinking is an action"),
    ),
    Row("<thinking>ACTION: look", None, "missing", "cut off in the thinking"),
    Row("<thinking>a</thinking>\n\n<action>\ngo to desk 1\n</action>", GO, "tag", "both in tags"),
    Row("<reasoning>look?</reasoning><action>look</action>", "look", "tag", "another tag"),
    Row("<scratchpad>\nACTION: go\n</scratchpad>\nACTION: look", "look", "exact", "another"),
    Row("<analysis>ACTION: a</analysis>\nACTION: look", "look", "exact", "another"),
    Row("I'll look around first.\n\nACTION: look", "look", "exact", "a sentence before"),
    Row("THINK: x\n\nACTION: go to desk 1\n\n(I expect a pen there.)", GO, "exact", "and behind"),
    Row("# Thinking\nI look.\n\n# Action\nlook", "look", "loose_label", "headings"),
    Row("<thinking>a</thinking>\nlook", "look", "bare", "a bare command behind it"),
    Row("<thinking>Is it <think>?</thinking>\nACTION: look", "look", "exact", "a tag named in it"),
    Row("I should be transparent: I am not sure.", None, "missing", "no action"),
]
GEMINI = [
    Row("THINK: I go.\nACTION: go to desk 1\n", GO, "exact", "as asked"),
    Row("```tool_code\nprint(act('look'))\n```", None, "missing", "code, not a command"),
    Row("**Thought**: x\n\n**Action**: go to desk 1", GO, "exact", "bold words"),
    Row("*   **ACTION:** look", "look", "exact", "in a list"),
    Row("ACTION: `look`", "look", "undecorated", "as code"),
    Row("Okay, I will look.\n\n```\nlook\n```", "look", "bare", "a sentence and a block"),
    Row("<start_of_turn>model\nACTION: look<end_of_turn>", "look", "end_mark", "marks of Gemma"),
    Row("ACTION: look<end_of_turn>\n<start_of_turn>user\nx", "look", "end_mark", "goes on"),
    Row("ACTION: look<eos>", "look", "end_mark", "the end of the text"),
    Row("Action:\n\n* look", "look", "next_line", "a bullet below"),
    Row("## ACTION:\n\n`go to desk 1`", GO, "next_line", "a heading with a colon"),
    Row(
        "Here's the plan:\n1. look\n2. go to desk 1\nACTION: look", "look", "exact", "a plan first"
    ),
]
LLAMA = [
    Row("ACTION: go to desk 1<|eot_id|>", GO, "end_mark", "the end of the turn"),
    Row(
        "<|start_header_id|>assistant<|end_header_id|>\n\nACTION: look<|eot_id|>",
        *("look", "end_mark", "the header, too"),
    ),
    Row("[INST] go on [/INST] ACTION: look", None, "missing", "the user's turn, echoed"),
    Row("ACTION: look </s>", "look", "end_mark", "an old mark"),
    Row("  ACTION: go to desk 1", GO, "exact", "indented"),
    Row("ACTION: look\nOBSERVATION: You see.\nTHINK: b", "look", "exact", "imagines an answer"),
    Row(
        "ACTION: look\n\nObservation: x\n\nTHINK: b\nACTION: go to desk 1",
        *("look", "first_of_several", "imagines a game"),
    ),
    Row("<|python_tag|>act.call(command='look')", None, "missing", "a call, let through"),
    Row(
        '<|python_tag|>{"name": "act", "parameters": {"command": "look"}}',
        *(None, "missing", "a call, let through"),
    ),
    Row("THINK: I go. ACTION: go to desk 1.", GO, "inline", "in one line"),
    Row("Action: Go to desk 1", "Go to desk 1", "exact", "its own capitals"),
    Row("## Step 1: Think\nI look.\n## Step 2: Action\nlook", "look", "bare", "steps"),
]
QWEN = [
    Row("<think>\nACTION: x\n</think>\n\nACTION: go to desk 1", GO, "exact", "its thinking"),
    Row("<think>\n\n</think>\n\nTHINK: a\nACTION: look", "look", "exact", "thinking turned off"),
    Row("ACTION: look<|im_end|>", "look", "end_mark", "the end of the turn"),
    Row("思考：去书桌\n动作：go to desk 1", GO, "loose_label", "in Chinese"),
    Row("【思考】去书桌\n【动作】go to desk 1", GO, "loose_label", "labels in brackets"),
    Row("【动作】：look", "look", "loose_label", "with a colon"),
    Row("【动作】\nlook", "look", "loose_label", "the command below"),
    Row("下一步行动：look", "look", "loose_label", "the next action"),
    Row("接下来的动作：look", "look", "loose_label", "the same in other words"),
    Row("我先看看。下一步行动：look", "look", "inline", "behind a sentence"),
    Row("ACTION：go to desk 1（去找书）", GO, "cut", "a remark in full-width brackets"),
    Row("ACTION: （look）", "look", "undecorated", "full-width brackets around it"),
    Row("ACTION: 【go to desk 1】", GO, "undecorated", "others"),
    Row("Action（动作）：look", "look", "loose_label", "the label translated"),
    Row("ACTION: go to desk １", "go to desk １", "exact", "a full-width digit is its own"),
    Row('<tool_call>\n{"name": "act", "arguments": {"command": "look"}}\n</tool_call>', None,
        "missing", "a call, let through"),
    Row("行动计划：先看看", None, "missing", "a plan of action"),
]  # fmt: skip
DEEPSEEK = [
    Row("<think>\nhm\n</think>\n**ACTION:** go to desk 1", GO, "exact", "its thinking"),
    Row("hm, ACTION: look?\n</think>\n\nACTION: go to desk 1", GO, "exact", "tag in the prompt"),
    Row("ACTION: look<｜end▁of▁sentence｜>", "look", "end_mark", "its end mark"),
    Row("<think>a</think>\n\n\\boxed{look}", "look", "bare", "boxed"),
    Row("ACTION: \\boxed{go to desk 1}", GO, "undecorated", "boxed, behind the label"),
    Row("<think>long", None, "missing", "cut off"),
    Row("THINK：看一下。\nACTION：look", "look", "exact", "full-width colons"),
    Row("**Final Action:** look", "look", "loose_label", "the final action"),
    Row("**Final Answer:** look", None, "missing", "an answer is not what was asked for"),
    Row("### Action:\n**look**", "look", "next_line", "a heading"),
    Row("<think>\na\n</think>\nTHINK: a\n\nACTION: take book 1 from desk 1.", TAKE, "undecorated",
        "a full stop"),
    Row("<think>a</think>ACTION: look<think>b</think>", "look", "exact", "thinks again"),
]  # fmt: skip
MISTRAL = [
    Row("[THINK]ACTION: go[/THINK]ACTION: look", "look", "exact", "its thinking"),
    Row("[THINK]ACTION: look", None, "missing", "cut off in it"),
    Row("ACTION: look</s>", "look", "end_mark", "its end mark"),
    Row('[TOOL_CALLS][{"name": "act", "arguments": {"command": "look"}}]', None, "missing",
        "a call, let through"),
    Row("Action: *look*", "look", "undecorated", "in italics"),
    Row("Action : look", "look", "exact", "a French colon"),
    Row("Pensée : je regarde.\nAction : look", "look", "exact", "in French"),
    Row("ACTION: «look»", "look", "undecorated", "French quotes"),
    Row("- THINK: a\n- ACTION: look", "look", "exact", "a list"),
    Row("Action: [look]", "look", "undecorated", "in brackets"),
    Row("[ACTION] look", "look", "loose_label", "the label in brackets"),
    Row("[ACTION]: go to desk 1", GO, "loose_label", "with a colon"),
]  # fmt: skip
KIMI = [
    Row("◁think▷ACTION: a◁/think▷ACTION: look", "look", "exact", "its thinking"),
    Row("◁think▷ACTION: look", None, "missing", "cut off in it"),
    Row("ACTION: look<|im_end|>", "look", "end_mark", "its end mark"),
    Row("<|im_assistant|>assistant<|im_middle|>ACTION: look", "look", "end_mark", "its turn marks"),
    Row("THINK: a  \nACTION: go to desk 1  ", GO, "exact", "two spaces for a line break"),
    Row("行动：look", "look", "loose_label", "in Chinese"),
    Row("**行动**：look", "look", "loose_label", "in bold"),
    Row("操作：`look`", "look", "loose_label", "another word"),
    Row("ACTION: look → to see the room", "look", "cut", "an arrow"),
    Row("ACTION: search[red shoes] // cheap", "search[red shoes]", "cut", "a comment"),
    Row("search[price < 30]", "search[price < 30]", "bare", "a query with a sign"),
    Row("click[< Prev]", "click[< Prev]", "bare", "a button with a sign"),
]
GLM = [
    Row("<think>a</think>\nACTION: look", "look", "exact", "its thinking"),
    Row("<|assistant|>\nACTION: look<|user|>", "look", "end_mark", "its turn marks"),
    Row("<|begin_of_box|>look<|end_of_box|>", "look", "bare", "its box"),
    Row("ACTION: <|begin_of_box|>look<|end_of_box|>", "look", "end_mark", "behind the label"),
    Row("<tool_call>act\n<arg_key>command</arg_key>\n<arg_value>look</arg_value>\n</tool_call>",
        None, "missing", "a call, let through"),
    Row("「动作」look", "look", "loose_label", "corner brackets"),
    Row("动作: 「look」", "look", "loose_label", "around the command"),
    Row("思考:看看 动作:look", None, "missing", "no sentence has ended"),
    Row("动作：look\n观察：…", "look", "loose_label", "imagines an answer"),
    Row("最终动作：look", "look", "loose_label", "the final action"),
    Row("ACTION: 「go to desk 1」。", GO, "undecorated", "quotes and a full stop"),
    Row("<answer>look</answer>", None, "missing", "an answer is not what was asked for"),
]  # fmt: skip
COMMAND = [
    Row("<|START_THINKING|>ACTION: a<|END_THINKING|>ACTION: look", "look", "exact", "its thinking"),
    Row(
        "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>ACTION: look<|END_RESPONSE|>",
        *("look", "end_mark", "its response"),
    ),
    Row("<|START_THINKING|>ACTION: look", None, "missing", "cut off in it"),
    Row('<|START_ACTION|>[{"tool_name": "act"}]<|END_ACTION|>', None, "missing", "let through"),
    Row("Plan: look first\nAction: look", "look", "exact", "a plan before"),
    Row("Reflection: x\nAction: ```look```", "look", "undecorated", "a fence in the line"),
    Row("I will go to the desk.\nAction: go to desk 1\nThen I will look.", GO, "exact", "and more"),
    Row("Action: look (to see the room)", "look", "cut", "a remark"),
    Row("Action: go to desk 1, then look", "go to desk 1, then look", "exact", "as written"),
    Row("Action: search[shoes [red]]", "search[shoes [red]]", "exact", "brackets of a name"),
    Row("The action: look", "look", "loose_label", "with an article"),
    Row("My best action: look", "look", "loose_label", "an opinion"),
]
OTHERS = [  # Phi, EXAONE, Seed, Granite, Nemotron, Grok
    Row("<thought>\nACTION: a\n</thought>\nACTION: look", "look", "exact", "EXAONE thinks"),
    Row("<thoughts>ACTION: a</thoughts>\nACTION: look", "look", "exact", "in the plural"),
    Row("<seed:think>ACTION: a</seed:think>ACTION: look", "look", "exact", "Seed thinks"),
    Row("ACTION: look<|end|>", "look", "end_mark", "Phi ends"),
    Row("<|assistant|>ACTION: look<|end|>", "look", "end_mark", "Phi's turn"),
    Row("ACTION: look<|end_of_text|>", "look", "end_mark", "Granite ends"),
    Row("<reflection>ACTION: a</reflection>ACTION: look", "look", "exact", "trained to reflect"),
    Row("Here is my thought process: a.\n\nACTION: look", "look", "exact", "Granite explains"),
    Row("**Action Taken:** look", None, "missing", "a report, not an action"),
    Row("Action → look", "look", "loose_label", "an arrow for a colon"),
    Row('"Action: go to desk 1"', GO, "undecorated", "all of it in quotes"),
    Row("'ACTION: look'", "look", "undecorated", "the same"),
    Row("ACTION: 'a' or 'b'", "'a' or 'b'", "exact", "two quotations are not one"),
]
FAMILIES = {
    "gpt": GPT, "gpt-oss": GPT_OSS, "claude": CLAUDE, "gemini": GEMINI, "llama": LLAMA,
    "qwen": QWEN, "deepseek": DEEPSEEK, "mistral": MISTRAL, "kimi": KIMI, "glm": GLM,
    "command": COMMAND, "others": OTHERS,
}  # fmt: skip


class CallRow(NamedTuple):
    """Calls as (tool, arguments), the words beside them, and what is carried out."""

    calls: tuple[tuple[str, str], ...]
    action: str | None
    how: str
    why: str
    text: str = ""


CALLS = [
    CallRow((("act", '{"command": "look"}'),), "look", "tool_call", "the tool as declared"),
    CallRow((("act", '{ "command" : "look" }\n'),), "look", "tool_call", "spaces in the JSON"),
    CallRow((("act", '{"command":"go to desk 1"}'),), GO, "tool_call", "none"),
    CallRow((("act", '{"command": "\\u006cook"}'),), "look", "tool_call", "escapes"),
    CallRow((("act", '{"command": "look"}'),), "look", "tool_call", "words beside", "I look."),
    CallRow(
        (("act", '{"command": "look"}'), ("act", '{"command": "inventory"}')),
        *("look", "first_call", "several at once: the first"),
    ),
    CallRow((("act", '{"command": " look "}'),), " look ", "tool_call", "words are not changed"),
    CallRow((("act", '{"command": "Action: look"}'),), "Action: look", "tool_call", "as written"),
    CallRow((("search", '{"query": "red shoes"}'),), "search[red shoes]", "tool_call", "typed"),
    CallRow((("search", '{"query": 42}'),), "search[42]", "tool_call", "a number is its text"),
    CallRow((("search", '{"query": ""}'),), "search[]", "tool_call", "nothing is invented"),
    CallRow((("look", ""),), "look", "tool_call", "no arguments at all"),
    CallRow((("look", "{}"),), "look", "tool_call", "an empty object"),
    CallRow((), None, "no_tool_call", "words instead of a call", "ACTION: look"),
    CallRow((), None, "no_tool_call", "a call in words", '{"name": "act"}'),
    CallRow((("act", "look"),), None, "malformed_call", "not JSON"),
    CallRow((("act", "{'command': 'look'}"),), None, "malformed_call", "Python, not JSON"),
    CallRow((("act", '{"command": "look"'),), None, "malformed_call", "cut off"),
    CallRow((("act", '"look"'),), None, "malformed_call", "not an object"),
    CallRow((("act", '["look"]'),), None, "malformed_call", "a list"),
    CallRow((("act", "{}"),), None, "malformed_call", "nothing given"),
    CallRow((("act", '{"action": "look"}'),), None, "malformed_call", "another argument"),
    CallRow((("act", '{"command": null}'),), None, "malformed_call", "null"),
    CallRow((("act", '{"command": true}'),), None, "malformed_call", "true"),
    CallRow((("act", '{"command": ["look"]}'),), None, "malformed_call", "a list of commands"),
    CallRow((("act", '{"command": {"x": "look"}}'),), None, "malformed_call", "an object"),
    CallRow((("act", '{"command": "look", "why": "x"}'),), None, "malformed_call", "too much"),
    CallRow((("functions.act", '{"command": "look"}'),), None, "malformed_call", "another name"),
    CallRow((("Act", '{"command": "look"}'),), None, "malformed_call", "another name"),
    CallRow((("go_to", '{"place": "desk 1"}'),), None, "malformed_call", "a made-up tool"),
    CallRow(
        (("go_to", "{}"), ("act", '{"command": "look"}')),
        *(None, "malformed_call", "the first is wrong: the second is not played for it"),
    ),
]
