"""Any published setting in one file: it asks as a prompt file says and reads as its settings say.

The sections of a prompt file: `[first]` is the message of the first turn and `[turn]` that of
later ones (`[first]` again without it); `[history]` is one earlier turn, `[admissible]` one
command that is possible now, `[piece]` one piece of an observation, `[examples]` the example
games, `[unread]` what the model is told when its reply has no action, and `[system]` the system
message.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from agentquest.agents.chat_history import NOT_CARRIED_OUT, ChatHistory, make_answer, reply_text
from agentquest.agents.readers import CALLING, READERS, ReaderName, ReaderOptions
from agentquest.agents.template_file import (
    TemplateFile,
    load_examples,
    load_messages,
    load_template,
)
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Answer, Demonstration, Episode, Observation, Settings
from agentquest.lib.commands import BLANK
from agentquest.lib.parsing import Parsed
from agentquest.lib.settings import content_file
from agentquest.llms.types import ChatModel, Reply, ReplyKind
from agentquest.records.how import How
from agentquest.records.messages import ToolSpec

_TURN = frozenset(
    {
        *("goal", "instructions", "role", "examples", "observation", "admissible", "step"),
        *("steps_taken", "max_steps", "history", "history_length"),
    }
)
FIELDS = {
    "system": frozenset({"goal", "instructions", "role", "examples", "max_steps"}),
    "examples": frozenset({"demonstrations"}),
    "first": _TURN,
    "turn": _TURN,
    "history": frozenset({"number", "observation", "action", "thought", "reply"}),
    "admissible": frozenset({"command"}),
    "piece": frozenset({"piece"}),
    "unread": frozenset(),
}
_OK = "OK."


class TurnTemplates(TemplateFile):
    """The messages of all turns; each method fills one section in."""

    fields = FIELDS
    needed = "first"

    def message(self, is_first: bool, **values: str) -> str:
        """A turn's message: `[turn]` if the file has it and the turn is not the first."""
        later = not is_first and self.has("turn")
        return self.fill("turn" if later else "first", **values).strip("\n")

    def line(self, section: str, otherwise: str, **values: str) -> str:
        """One entry of a list; `otherwise` if the file does not define it."""
        return self.fill(section, **values).strip("\n") if self.has(section) else otherwise


class ToolSetting(BaseModel):
    """A tool under a name of the setting's own; each blank of `command` is a parameter."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    command: str

    def spec(self) -> ToolSpec:
        """The tool as models see it: every parameter is text, and required."""
        names = BLANK.findall(self.command)
        schema = {
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": names,
        }
        return ToolSpec(
            name=self.name, description=self.description, parameters=schema, command=self.command
        )


class PromptedSettings(Settings):
    """How a turn is shown to the model, and how its reply is read."""

    prompt_file: Path = content_file(...)
    """The prompt template (see docs/agents.md)."""

    opening_file: Path | None = content_file()
    """A chat to continue: a JSON or YAML list of messages (`role`, `content`) that stand before
    the first one."""

    examples_file: Path | None = content_file()
    """Example games of your own: a JSON or YAML object with a text for each task type, which
    becomes `$examples`."""

    style: Literal["message", "chat"] = "message"
    """One user message per turn, with the history in it; or a continuous chat."""

    reader: ReaderName = "tags"
    """How a reply is read: `<action>` tags, a tool call, a plain line, JSON,
    `THINK: … ACTION: …`, or as the authors of a published setting do (`as_…`)."""

    lower_case: bool = False
    """Whether commands are lower-cased."""

    tail: int = Field(default=0, ge=0, le=1000)
    """With `tags` and `as_gigpo`: play this many last characters of a reply without tags, as
    some published settings do; 0: such a reply has no action."""

    rewrite: tuple[tuple[str, str, str], ...] = ()
    """With `as_agentboard`: a command with the first and the second text of a rule has the third
    in place of the second; the first such rule counts."""

    read_cut_off: bool = False
    """Whether a reply that was cut off is read anyway."""

    thought_turns: str | None = None
    """How a reply begins that is only a thought: it costs a turn, and `OK.` is the answer."""

    ends_on_repeat: bool = False
    """Whether the game is given up after the same action twice in a row, as Reflexion does."""

    history_length: int = Field(default=2, ge=0)
    """How many earlier turns `$history` has."""

    history_join: str = "\n"
    """Separator between earlier turns."""

    admissible_join: str = "\n"
    """Separator between the currently possible commands."""

    admissible_without: tuple[str, ...] = ()
    """Commands that are not shown as possible."""

    pieces: str | None = None
    """What separates the pieces of an observation: those after the goal are shown, each as
    `[piece]` says; null: the whole observation."""

    leave_out: tuple[str, ...] = ()
    """Regular expressions; matching text is left out of observations."""

    longest_prompt: int | None = Field(default=None, ge=1)
    """A longer message, in characters, is replaced by `[first]`, which has no history."""

    num_examples: int = Field(default=0, ge=0, le=6)
    """How many example games `$examples` shows."""

    tools: tuple[ToolSetting, ...] = ()
    """With `tool_call`: the tools, under your own names; none: the benchmark's."""

    when_full: Literal["trim", "end"] = "end"
    """When a chat no longer fits: drop the older half of its turns, or end."""


class _Turn(NamedTuple):
    number: int
    observation: str
    action: str
    thought: str
    reply: str


class PromptedAgent(Agent):
    """Fills the prompt file in each turn, asks the model and plays what the reader finds."""

    Settings = PromptedSettings

    def __init__(self, settings: PromptedSettings, model: ChatModel) -> None:
        self._settings = settings
        self._model = model
        self._template = load_template(TurnTemplates, settings.prompt_file)
        opening, examples = settings.opening_file, settings.examples_file
        self._opening = load_messages(opening) if opening else ()
        self._examples = load_examples(examples) if examples else None
        self._read = READERS[settings.reader]
        self._left_out = [re.compile(pattern) for pattern in settings.leave_out]
        self._history: list[_Turn] = []
        self.calls_tools = settings.reader in CALLING
        self.demonstrations_wanted = settings.num_examples

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        briefing, settings = episode.briefing, self._settings
        own = tuple(tool.spec() for tool in settings.tools)
        self._tools = (own or briefing.tools) if self.calls_tools else ()
        examples = "\n\n".join(map(_format_example, briefing.demonstrations))
        if examples:
            examples = self._template.fill("examples", demonstrations=examples)
        if self._examples is not None:
            if episode.task_type not in self._examples:
                raise ConfigError(f"{settings.examples_file} has no {episode.task_type!r}")
            examples = self._examples[episode.task_type]
        self._fixed = {
            "goal": episode.goal,
            "instructions": briefing.instructions,
            "role": briefing.role,
            "examples": examples,
            "max_steps": str(episode.max_steps),
        }
        system = self._template.fill("system", **self._fixed).strip()
        self._chat = ChatHistory(system, self._opening)
        self._options = ReaderOptions(
            tuple(tool.command for tool in briefing.typed_tools or briefing.tools),
            self._tools,
            settings.lower_case,
            settings.tail,
            settings.rewrite,
        )

    async def act(self, observation: Observation) -> Answer:
        if self._settings.ends_on_repeat and self._has_repeated():
            return Answer(None, give_up=True)
        seen = self._show(observation.text)
        reply = await self._ask(self._message(seen, observation.admissible))
        parsed = self._parse(reply)
        action = "(no action given)" if parsed.action is None else parsed.action
        turn = _Turn(len(self._history) + 1, seen, action, parsed.thought, reply_text(reply))
        self._history.append(turn)
        told = self._template.fill("unread").strip("\n")
        answer = make_answer(self._model, reply, parsed, self._chat.asked, told, self._tools)
        begins = self._settings.thought_turns
        if begins and action.startswith(begins):
            return replace(answer, how=How.THOUGHT, answered=True, told=_OK)
        return answer

    def _has_repeated(self) -> bool:
        """Whether the last action is the one before it; before the first one is an empty one."""
        actions = ["", *(turn.action for turn in self._history)]
        return len(actions) > 1 and actions[-1] == actions[-2]

    def _show(self, text: str) -> str:
        """The observation as the prompt shows it."""
        for pattern in self._left_out:
            text = pattern.sub("", text)
        separator = self._settings.pieces
        if separator is None:
            return text
        pieces = text.split(separator)
        if self.episode.goal in pieces:
            pieces = pieces[pieces.index(self.episode.goal) + 1 :]
        return separator.join(self._template.line("piece", piece, piece=piece) for piece in pieces)

    def _message(self, seen: str, admissible: tuple[str, ...]) -> str:
        settings = self._settings
        possible = [name for name in admissible if name not in settings.admissible_without]
        shown = self._history[-settings.history_length :] if settings.history_length else []
        values = {
            **self._fixed,
            "observation": seen,
            "admissible": settings.admissible_join.join(
                self._template.line("admissible", name, command=name) for name in possible
            ),
            "step": str(len(self._history) + 1),
            "steps_taken": str(len(self._history)),
            "history": settings.history_join.join(map(self._line, shown)),
            "history_length": str(len(shown)),
        }
        text = self._template.message(not self._history, **values)
        if settings.longest_prompt is not None and len(text) > settings.longest_prompt:
            return self._template.message(True, **values)
        return text

    def _line(self, turn: _Turn) -> str:
        values: dict[str, Any] = {**turn._asdict(), "number": str(turn.number)}
        return self._template.line("history", f"{turn.observation}\n> {turn.action}", **values)

    async def _ask(self, text: str) -> Reply:
        """The reply; calls in it that are not played are answered at once."""
        if self._settings.style == "message":
            self._chat.restart(text)
        else:
            self._chat.add_observation(text)
        trims = self._settings.when_full == "trim"
        seed = self.episode.model_seed
        reply = await self._chat.ask(self._model, self._tools, seed, trims)
        for call in reply.tool_calls[1:]:
            self._chat.add_result(call, NOT_CARRIED_OUT)
        self._chat.called = reply.tool_calls[0] if reply.tool_calls else None
        return reply

    def _parse(self, reply: Reply) -> Parsed:
        cut_off = reply.kind is ReplyKind.TRUNCATED and self._settings.read_cut_off
        empty = reply.kind is ReplyKind.EMPTY and reply.raw and self._settings.read_cut_off
        if reply.kind is ReplyKind.COMPLETE or cut_off or empty:
            return self._read(reply, self._options)
        return Parsed(None, "", reply.kind.value)


def _format_example(example: Demonstration) -> str:
    lines = [f"Goal: {example.goal}", example.first_observation]
    for thought, action, observation in example.turns:
        lines += [f"Thought: {thought}", f"Action: {action}", observation]
    return "\n".join(lines)
