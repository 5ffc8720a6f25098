"""What a run has cost, and whether it may cost more.

A cost that the server reports is used as it is; otherwise its token counts are priced.
Where it reports neither, tokens are estimated, so that a limit always holds. Only the
limit uses estimates: records never hold one.
"""

from collections.abc import Callable, Sequence

from agentquest.llms.prices import Price, estimate_usage
from agentquest.records.episode import Step
from agentquest.records.messages import Message
from agentquest.running.events import RunEvents
from agentquest.running.spec import EpisodeSpec

_UNCOUNTED = (
    "the server reports no token counts: for the cost limit, costs are estimated from the length of"
    " prompts and replies; reports show them as unknown"
)


class Budget(RunEvents):
    """Adds up costs and gives up at the limit; `limit` None: there is none."""

    def __init__(
        self,
        limit: float | None,
        price: Price | None,
        note: Callable[[str], None],
        give_up: Callable[[str], None],
    ) -> None:
        self._limit = limit
        self._price = price
        self._note = note
        self._give_up = give_up
        self._known = 0.0
        self._estimated = 0.0
        self._estimates = 0
        self._uncounted_before = 0

    def resume(self, spent: float, uncounted: int) -> None:
        """What earlier parts of the run cost, and how many of their calls had no token counts."""
        self._known += spent
        self._uncounted_before += uncounted
        self._check()

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """Count a step's calls; those without token counts are estimated from their texts."""
        if not step.calls:
            return
        for call in step.calls:
            if call.cost is not None:
                self._known += call.cost
            elif self._limit is not None and self._price is not None and not call.cached:
                self._estimate(self._price, step, prompt)
        self._check()

    def _estimate(self, price: Price, step: Step, prompt: Sequence[Message]) -> None:
        if not self._estimates:
            self._note(_UNCOUNTED)
        reply = Message(role="assistant", content=step.reply, reasoning=step.reasoning)
        usage = step.calls[-1].usage or estimate_usage(prompt, reply)
        self._estimates += 1
        # A prompt beyond what the price is for costs more rather than less.
        self._estimated += Price(price.prompt, price.completion).of(usage) or 0.0

    @property
    def cost(self) -> float:
        """As far as is known; earlier calls without token counts are priced at the average."""
        each = self._estimated / self._estimates if self._estimates else 0.0
        return self._known + self._estimated + self._uncounted_before * each

    def _check(self) -> None:
        if self._limit is not None and self.cost >= self._limit:
            about = "about " if self._estimates else ""
            self._give_up(f"the cost limit of {self._limit:g} is reached ({about}{self.cost:.4f})")
