"""Replies read as the authors of published settings read them, quirks included.

Each is written from what the authors' function does, so that a score under their protocol is
a score by their rules; the repository, file and commit stand with each. They are given the
reply as the server sent it, thoughts included. What they play may be no answer to a person,
even the empty text; `how` then says so in each step. tests/unit/agents/published_replies.json
has what each function returns for a common list of replies.
"""

import json
from collections.abc import Sequence

from agentquest.lib.commands import fill_blanks
from agentquest.lib.parsing import Parsed
from agentquest.records.how import How
from agentquest.records.messages import ToolCall, ToolSpec


def read_as_gigpo(text: str, tail: int) -> Parsed:
    """Between the first `<action>` and the first `</action>`, wherever they are, in lower case.

    Without both, the last `tail` characters: 30 on ALFWorld, 20 on WebShop. Missing think tags
    and Chinese characters cost a reward in training, not the action.

    xlan156/verl-agent (a copy of langfengQ/verl-agent), agent_system/environments/env_package/
    {alfworld,webshop}/projection.py, 8ca3a467.
    """
    small = text.lower()
    start, end = small.find("<action>"), small.find("</action>")
    if start < 0 or end < 0:
        last = small[-tail:] if tail else ""
        return Parsed(last, text, How.TAIL if last else How.MISSING)
    action = small[start + len("<action>") : end].strip()
    return Parsed(action, text[:start].strip(), How.TAG if action else How.MISSING)


def read_as_agentgym(text: str, commands: Sequence[str]) -> Parsed:
    """All that follows the last `Action:`.

    Without one, the whole reply if it has a command with a bracket (theirs looks for the two of
    an online shop), else the empty text. Of a reply that ends in `</s>`, five characters are cut
    off.

    WooooDyy/AgentGym, agentenv/agentenv/controller/utils.py (`parse_react`) and
    envs/{alfworld,webshop}.py (`step`), 3ef9235d.
    """
    if text.endswith("</s>"):
        text = text[:-5]
    thought, label, action = text.rpartition("Action:")
    if not label:
        openings = [command[: command.index("[") + 1] for command in commands if "[" in command]
        is_command = any(opening in text for opening in openings)
        thought, action = ("", text) if is_command else (text, "")
    action = action.strip()
    return Parsed(action, _behind_thought(thought), How.AS_PUBLISHED if action else How.MISSING)


def _behind_thought(text: str) -> str:
    before, label, rest = text.partition("Thought:")
    return rest.partition("Thought:")[0].strip() if label else before


def read_as_react(text: str) -> Parsed:
    """The first line: generation stops at a line's end.

    ysymyth/ReAct, alfworld.ipynb (`llm`, `alfworld_run`), 6bdb3a1f; the same in
    noahshinn/reflexion, alfworld_runs/alfworld_trial.py, 218cf0ef.
    """
    line = text.partition("\n")[0].strip()
    return Parsed(line, "", How.AS_PUBLISHED if line else How.MISSING)


def read_as_eto(text: str) -> Parsed:
    """All that follows the first `Action:` and one blank.

    Without one there is no action, which the model is told.

    Yifan-Song793/ETO, eval_agent/envs/alfworld_env.py (`parse_action`), a2fc5da3.
    """
    thought, label, action = text.strip().partition("Action:")
    if not label:
        return Parsed(None, text, How.MISSING)
    action = action[1:] if action[:1].isspace() else action
    return Parsed(action, thought, How.AS_PUBLISHED if action else How.MISSING)


def read_as_eto_blank(text: str) -> Parsed:
    """All that follows the first `Action: `, whose blank must be there.

    Yifan-Song793/ETO, eval_agent/envs/webshop_env.py (`parse_action`), a2fc5da3.
    """
    thought, label, action = text.strip().partition("Action: ")
    return Parsed(action, thought, How.AS_PUBLISHED) if label else Parsed(None, text, How.MISSING)


def read_as_agentboard(text: str, rewrite: Sequence[tuple[str, str, str]]) -> Parsed:
    """A line about an action without its label, else the first line, rewritten by one rule.

    Where a line has a rule's first and second text, the third replaces every second one.

    hkust-nlp/AgentBoard, agentboard/agents/vanilla_agent.py (`action_parser_for_special_llms`)
    and agentboard/tasks/alfworld.py (`parseAction`), bb7255e2.
    """
    try:
        found = _find_agentboard_line(text)
    except ValueError:
        return Parsed(None, text, How.MISSING)  # where their program ends with an exception
    line = found.strip().strip("'/").partition("\n")[0].strip()
    rule = next((rule for rule in rewrite if rule[0] in line and rule[1] in line), None)
    whole = line.replace(*rule[1:]) if rule else line
    # The task takes one full stop off, the environment another.
    action = whole.removesuffix(".").strip().removesuffix(".")
    how = How.AS_PUBLISHED if whole == line else How.REWRITTEN
    return Parsed(action, "", how if action else How.MISSING)


def _find_agentboard_line(text: str) -> str:
    """What stands behind a line's colon or its `is to`; raises where their loop does."""
    found, lines, is_spoiled = text, text.split("\n"), False
    if "action" not in text.lower():
        lines = []
    for line in lines:
        mentions, has_colon = "action" in line.lower(), ":" in line
        if "next action" in line and has_colon:
            if is_spoiled:
                raise ValueError("the list of lines has been overwritten")
            found = next((later for later in lines[lines.index(line) + 1 :] if later), found)
        if line.partition(":")[0].lower().endswith("with action input"):
            return line
        if mentions and has_colon:
            rest = line.partition(":")[2]
            if rest:
                found = rest
                break
            is_spoiled = True
        if mentions and "is to" in line:
            rest = line.split("is to")[1]
            if rest:
                found = rest
                break
            is_spoiled = True
    return found if found.strip() else text.partition("\n")[0]


def read_as_agentbench(calls: Sequence[ToolCall], said: str) -> Parsed:
    """The first argument of the first call, whatever both are called: its first line, lower-cased.

    That it is then replaced by the admissible command of highest BLEU is left out.

    THUDM/AgentBench, src/server/tasks/alfworld/task.py (`alfworld_run`) and utils.py
    (`process_action`), 578c5e9f.
    """
    if not calls:
        return Parsed(None, said, How.NO_TOOL_CALL)
    given = _first_argument(calls[0])
    if not isinstance(given, str):
        return Parsed(None, said, How.MALFORMED_CALL)
    action = given.strip().lower().partition("\n")[0]
    return Parsed(action, said, How.AS_PUBLISHED if action else How.MISSING)


def read_as_agentbench_tools(
    calls: Sequence[ToolCall], said: str, tools: Sequence[ToolSpec]
) -> Parsed:
    """The first argument of the first call, whatever it is, in the command of the tool called.

    THUDM/AgentBench, src/server/tasks/webshop/task.py (`sync_start_sample`), 578c5e9f.
    """
    if not calls:
        return Parsed(None, said, How.NO_TOOL_CALL)
    command = next((tool.command for tool in tools if tool.name == calls[0].name), None)
    given = _first_argument(calls[0])
    if command is None or given is _NOTHING:
        return Parsed(None, said, How.MALFORMED_CALL)
    return Parsed(fill_blanks(command, str(given)), said, How.AS_PUBLISHED)


_NOTHING = object()


def _first_argument(call: ToolCall) -> object:
    try:
        given = json.loads(call.arguments)
    except (ValueError, RecursionError):
        return _NOTHING
    return next(iter(given.values()), _NOTHING) if isinstance(given, dict) else _NOTHING
