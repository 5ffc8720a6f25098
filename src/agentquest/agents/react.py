"""The ReAct agent: one prompt per step, a thought and an action back.

The system message holds what stays the same in an episode (instructions, examples), the user
message what changes (task, recent history, answer format). Both are made from a template file
that a user can replace. Its sections are `[system]` (`$instructions`, `$examples`), `[user]`
(`$goal`, `$help`, `$history` and `$check`, a sentence that `check valid actions` is a command)
and `[examples]` (`$demonstrations`).
"""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar, NamedTuple

from pydantic import Field

from agentquest.agents.chat_history import make_answer
from agentquest.agents.template_file import TemplateFile, load_template
from agentquest.lib import Agent, Answer, Demonstration, Episode, Observation, Settings
from agentquest.lib.parsing import Parsed, parse_react
from agentquest.lib.settings import content_file
from agentquest.llms.types import ChatModel, Reply, ReplyKind
from agentquest.records.messages import Message

_BUILT_IN = Path(__file__).with_name("react.txt")


class PromptTemplate(TemplateFile):
    """The two messages of a step."""

    fields: ClassVar = {
        "system": frozenset({"instructions", "examples"}),
        "examples": frozenset({"demonstrations"}),
        "user": frozenset({"goal", "help", "history", "check"}),
    }
    needed = "user"

    def system(self, instructions: str, demonstrations: str) -> str:
        """The part that stays the same all through an episode, so that servers can cache it."""
        examples = ""
        if demonstrations:
            examples = self.fill("examples", demonstrations=demonstrations)
        return self.fill("system", instructions=instructions, examples=examples).strip()

    def user(self, goal: str, help_lines: str, history: str, check: str = "") -> str:
        """The part that changes with each turn: the goal, the help and the recent history."""
        values = {"goal": goal, "help": help_lines, "history": history, "check": check}
        return self.fill("user", **values).strip()


CHECK_VALID_ACTIONS = "check valid actions"
CHECK_FORMAT = f" `{CHECK_VALID_ACTIONS}` is a command, too."
CHECK_HELP = "Help: type 'check valid actions' if action fails"


class ReActSettings(Settings):
    """What the prompt shows, and where its words come from."""

    use_few_shot: bool = True
    """Whether the prompt shows example games."""

    num_examples: int = Field(default=2, ge=1, le=6)
    """How many example games, all of the task's type."""

    history_length: int = Field(default=10, ge=1)
    """How many of the latest turns the prompt repeats."""

    history_thoughts: bool = False
    """Whether the repeated turns include the agent's thoughts."""

    check_valid_actions: bool = True
    """Whether the agent may ask for the list of valid actions (costs a step)."""

    prompt_file: Path | None = content_file()
    """Your own prompt template (see docs/evaluator.md)."""


class _Exchange(NamedTuple):
    thought: str
    action: str
    observation: str


class ReActAgent(Agent):
    """Asks a model for one action a step; a reply without one costs a step and says so."""

    Settings = ReActSettings

    def __init__(self, settings: ReActSettings, model: ChatModel) -> None:
        self._settings = settings
        self._model = model
        self._template = load_template(PromptTemplate, settings.prompt_file or _BUILT_IN)
        self.demonstrations_wanted = settings.num_examples if settings.use_few_shot else 0
        self._first = ""
        self._history: list[_Exchange] = []
        self._last: Parsed | None = None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        shown = episode.briefing.demonstrations
        text = self._template.system(
            episode.briefing.instructions,
            "\n\n".join(
                f"Example {number}:\n{_format_example(example)}"
                for number, example in enumerate(shown, start=1)
            ),
        )
        self._system = Message(role="system", content=text)
        check = [CHECK_HELP] if self._settings.check_valid_actions else []
        helps = [f"Help: {line}" for line in episode.briefing.help_lines]
        self._help = "\n".join([*check, *helps])
        briefed = episode.briefing.typed_tools or episode.briefing.tools
        self._commands = (CHECK_VALID_ACTIONS, *(tool.command for tool in briefed if tool.command))

    async def act(self, observation: Observation) -> Answer:
        self._remember(observation)
        check = CHECK_FORMAT if self._settings.check_valid_actions else ""
        user = self._template.user(self.episode.goal, self._help, self._recent(), check)
        prompt = (self._system, Message(role="user", content=user))
        reply = await self._model.complete(prompt, seed=self.episode.model_seed)
        parsed = self._last = self._read(reply)
        answer = make_answer(self._model, reply, parsed, prompt)
        return self._with_list(answer, observation)

    def _remember(self, observation: Observation) -> None:
        if self._last is None:
            self._first = observation.text
            return
        thought, action = self._last.thought, self._last.action or "(no action given)"
        self._history.append(_Exchange(thought, action, observation.text))

    def _read(self, reply: Reply) -> Parsed:
        """The action in a reply. One that was cut off or is empty is not an answer."""
        if reply.kind is not ReplyKind.COMPLETE:
            return Parsed(None, "", reply.kind.value)
        return parse_react(reply.text, self._commands)

    def _with_list(self, answer: Answer, observation: Observation) -> Answer:
        """The list of valid actions, where that is what the agent asked for."""
        asked = (answer.action or "").lower() == CHECK_VALID_ACTIONS
        if not (asked and self._settings.check_valid_actions):
            return answer
        valid = ", ".join(observation.admissible)
        return replace(answer, answered=True, told=f"Valid actions: {valid}")

    def _recent(self) -> str:
        """The first observation always, then the latest turns."""
        left_out = max(0, len(self._history) - self._settings.history_length)
        lines = [f"Observation: {self._first}"]
        if left_out:
            lines.append(f"({left_out} earlier steps are left out.)")
        for exchange in self._history[left_out:]:
            if self._settings.history_thoughts and exchange.thought:
                lines.append(f"Think: {exchange.thought}")
            lines += [f"Action: {exchange.action}", f"Observation: {exchange.observation}"]
        return "\n".join(lines)


def _format_example(example: Demonstration) -> str:
    lines = [f"Goal: {example.goal}", f"Observation: {example.first_observation}"]
    for thought, action, observation in example.turns:
        lines += [f"THINK: {thought}", f"ACTION: {action}", f"Observation: {observation}"]
    return "\n".join(lines)
