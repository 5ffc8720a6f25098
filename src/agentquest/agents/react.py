"""The ReAct agent: one prompt a step, a thought and an action back.

What never changes in an episode (instructions, examples) is the system message;
what does (task, recent history, answer format) is the user message.
"""

from pathlib import Path
from typing import NamedTuple

from agentquest.agents.prompt_template import PromptTemplate, load_template
from agentquest.agents.react_parsing import Parsed, parse_react
from agentquest.lib import (
    Agent,
    Answer,
    Benchmark,
    Demonstration,
    Episode,
    ModelCall,
    Observation,
    Turn,
)
from agentquest.llms.accounting import Price
from agentquest.llms.messages import ChatMessage, Reply, ReplyKind
from agentquest.llms.model import ChatModel

CHECK_HELP = "Help: type 'check valid actions' if action fails"


class _Exchange(NamedTuple):
    action: str
    observation: str


class ReActAgent(Agent):
    def __init__(
        self,
        benchmark: Benchmark,
        model: ChatModel,
        price: Price | None = None,
        use_few_shot: bool = True,
        num_examples: int = 2,
        history_length: int = 10,
        check_valid_actions: bool = True,
        prompt_file: Path | None = None,
        template: PromptTemplate | None = None,
        model_seed: int | None = None,
    ) -> None:
        self._benchmark = benchmark
        self._model = model
        self._price = price
        self._examples = num_examples if use_few_shot else 0
        self._history_length = history_length
        self._check = check_valid_actions
        self._template = template or load_template(prompt_file)
        self._model_seed = model_seed
        self._first = ""
        self._history: list[_Exchange] = []
        self._last_action: str | None = None

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        shown = self._benchmark.demonstrations(episode.task, episode.dialect, self._examples)
        self._system = self._template.system(
            self._benchmark.instructions(episode.dialect),
            "\n\n".join(
                f"Example {number}:\n{_demonstrated(example)}"
                for number, example in enumerate(shown, start=1)
            ),
        )

    async def act(self, observation: Observation) -> Answer:
        if self._last_action is None:
            self._first = observation.text
        else:
            self._history.append(_Exchange(self._last_action, observation.text))
        messages = [
            ChatMessage("system", self._system),
            ChatMessage(
                "user", self._template.user(self.episode.goal, self._help(), self._recent())
            ),
        ]
        reply = await self._model.complete(messages, seed=self._model_seed)
        parsed = _read(reply)
        self._last_action = parsed.action if parsed.action is not None else "(no action given)"
        return Answer(
            action=parsed.action,
            how=parsed.how,
            reply=reply.text,
            reasoning=reply.reasoning,
            prompt=tuple([Turn(message.role, message.content) for message in messages]),
            calls=(_call(reply, self._price),),
        )

    def _help(self) -> str:
        lines = [CHECK_HELP] if self._check else []
        return "\n".join([*lines, *(f"Help: {line}" for line in self._benchmark.help_lines)])

    def _recent(self) -> str:
        """The first observation always, then the latest turns."""
        left_out = max(0, len(self._history) - self._history_length)
        lines = [f"Observation: {self._first}"]
        if left_out:
            lines.append(f"({left_out} earlier steps are left out.)")
        for exchange in self._history[left_out:]:
            lines += [f"Action: {exchange.action}", f"Observation: {exchange.observation}"]
        return "\n".join(lines)


def _read(reply: Reply) -> Parsed:
    """What the reply asks for. One that was cut off, or is empty, is no answer."""
    if reply.kind is not ReplyKind.COMPLETE:
        return Parsed(None, "", reply.kind.value)
    return parse_react(reply.text)


def _demonstrated(example: Demonstration) -> str:
    lines = [f"Goal: {example.goal}", f"Observation: {example.first_observation}"]
    for thought, action, observation in example.turns:
        lines += [f"THINK: {thought}", f"ACTION: {action}", f"Observation: {observation}"]
    return "\n".join(lines)


def _call(reply: Reply, price: Price | None) -> ModelCall:
    usage = reply.usage
    return ModelCall(
        model=reply.model,
        kind=reply.kind.value,
        prompt_tokens=usage.prompt_tokens if usage else None,
        completion_tokens=usage.completion_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        cost=price.of_reply(reply) if price and usage else None,
        latency_s=reply.latency_s,
        attempts=reply.attempts,
        cached=reply.cached,
    )
