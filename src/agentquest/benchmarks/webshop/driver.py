"""The WebShop driver as documented: in process, or against a server.

`Observation.success` keeps its documented meaning, that something was bought.
Whether it was the right thing is `outcome.success`: a reward of 1.0.
"""

import json
import os
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.client import ShopClient
from agentquest.benchmarks.webshop.shop.reward import explain_purchase
from agentquest.benchmarks.webshop.shop.sessions import Sessions, check_name
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop, ShoppingSession
from agentquest.errors import ConfigError, UserError
from agentquest.lib import Action, Driver, Metrics, Observation, Outcome, State

INTRODUCTION = (
    "Welcome to WebShop, a simulated e-commerce website environment. Your goal is to find and "
    "buy the best product matching the instruction provided.\n"
    "There are two possible actions `search[<query>]` and `click[<clickable>]`. These actions "
    "will help you navigate through the WebShop environment. The list of possible actions and "
    "clickables are provided in the observation output after every action.\n"
    "Your output should in the following format:\n"
    "Action: <action>\n"
)
TOO_LONG = (
    f"Your action is longer than {LONGEST_ACTION} characters and was not carried out; the page is"
    " unchanged."
)


@dataclass(frozen=True)
class WebshopAction(Action):
    """`search[...]` or `click[...]`."""


@dataclass(frozen=True)
class WebshopState(State):
    """`value` is the answer of the shop: observation, available actions, reward, done."""


@dataclass(frozen=True)
class WebshopObservation(Observation):
    """What the agent sees; `success` says that something was bought."""


class WebshopMetrics(Metrics):
    """Progress is the reward of the step: 0.0 until the purchase."""

    def progress_function(self, state: State) -> float:
        return float(state.value.get("reward", 0.0))


class WebshopUtils:
    """The shapes that pass between shop, server and agent."""

    @staticmethod
    def reset_answer(session: ShoppingSession) -> dict[str, Any]:
        """What a server says after a reset."""
        return {
            "available_actions": dict(sorted(session.available.items())),
            "info": None,
            "obs": session.observe(),
        }

    @staticmethod
    def step_answer(session: ShoppingSession, reward: float, done: bool) -> dict[str, Any]:
        """What a server says after a step; keys in alphabetical order, as documented."""
        answer = WebshopUtils.reset_answer(session) | {"done": done, "reward": reward}
        return dict(sorted(answer.items()))

    @staticmethod
    def admissible(available: dict[str, Any]) -> tuple[str, ...]:
        """What the page offers; `search[<query>]`, where it has a search bar, is all searches.

        The shop takes a search on every page, as the original does; see `accepts`.
        """
        clicks = [f"click[{text}]" for text in available["clickables"] if text != "search"]
        return ("search[<query>]", *clicks) if available["has_search_bar"] else tuple(clicks)


class _InProcess:
    """A shop of the driver's own."""

    def __init__(self, shop: Shop) -> None:
        self._sessions = Sessions(shop)
        self.data_hash = shop.catalogue.digest
        self.tagger = shop.nouns.name
        self.session: ShoppingSession | None = None
        self.valid = True
        self._named = False

    def reset(self, session: int | str | None) -> dict[str, Any]:
        if self.session is not None and not self._named:
            self._sessions.forget(self.session.id)
        self.session = self._sessions.reset(session)
        self._named = isinstance(session, str)  # only these can be asked for again, goal and all
        return WebshopUtils.reset_answer(self.session)

    def step(self, action: str) -> dict[str, Any]:
        assert self.session is not None
        step = self.session.step(action)
        self.valid = step.valid
        return WebshopUtils.step_answer(self.session, step.reward, step.done)


class WebshopDriver(Driver):
    """Plays WebShop.

    With `base_url` on a server (`token` if it asks for one); else in process, on the
    official files in `data` or on the built-in products. `seed` fixes hidden prices and
    price limits, `goals` is "synthetic" or "human", `strict` keeps the original's quirks.
    A `shop` that exists can be shared by many drivers.
    """

    action_class: ClassVar[type[Action]] = WebshopAction
    metrics_class: ClassVar[type[Metrics]] = WebshopMetrics

    def __init__(
        self,
        base_url: str | None = None,
        *,
        data: str | os.PathLike[str] | None = None,
        size: str | None = None,
        seed: int = 0,
        goals: str = "synthetic",
        strict: bool = False,
        shop: Shop | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__()
        if data is not None and base_url is not None:
            raise ConfigError("base_url plays on a server; give the server its data instead")
        if shop is not None and not (base_url is None and data is None):
            raise ConfigError("an existing shop was given, so data and base_url have no effect")
        self._place: ShopClient | _InProcess
        if base_url is not None:
            self._place = ShopClient(base_url, token=token)
        else:
            if shop is None:
                catalogue = open_catalogue(data, size=size)
                shop = Shop(catalogue, goals=goals, seed=seed, strict=strict)
            self._place = _InProcess(shop)
        self._wanted: int | str | None = None
        self.current_state: WebshopState | None = None

    @property
    def goal(self) -> str:
        """The instruction of the task being played."""
        return str(self.metrics.goal)

    @property
    def outcome(self) -> Outcome:
        answer = self.current_state.value if self.current_state else {}
        reward = float(answer.get("reward", 0.0))
        done = bool(answer.get("done", False))
        success = done and reward == 1.0
        explanation = self._explain() if done and not success else ""
        return Outcome(done, success, reward, progress=reward, explanation=explanation)

    def _explain(self) -> str:
        """What was wrong with the purchase; a server does not say."""
        session = self._place.session
        if not isinstance(session, ShoppingSession) or session.bought is None:
            return ""
        return explain_purchase(session.goal, session.bought, session.details)

    @property
    def data_hash(self) -> str:
        return self._place.data_hash

    def _accepts(self, value: str) -> bool:
        session = self._place.session
        if isinstance(session, ShoppingSession):
            return session.accepts(value)
        return len(value) <= LONGEST_ACTION

    def facts(self) -> dict[str, str]:
        """What a score depends on besides the task: which tagger read the titles."""
        if isinstance(self._place, ShopClient):
            return {"tagger": str(self._place.about().get("tagger", "unknown: the server's"))}
        return {"tagger": self._place.tagger}

    def details(self) -> dict[str, Any]:
        """The goal, what the reward was made of, and which tagger read the titles."""
        session = self._place.session
        if not isinstance(session, ShoppingSession):
            return {}
        return {
            "session": session.id,
            "goal": session.goal.as_dict(),
            "bought": session.bought,
            "reward": session.details,
            "nouns": session.shop.nouns.name,
        }

    def reset(self, session: int | str | None = None) -> Observation:
        """Start a problem: goal number `session`, a named session, or one drawn by the shop."""
        if isinstance(session, bool) or not isinstance(session, int | str | None):
            raise UserError(f"session must be a number or text, not {session!r}")
        if isinstance(session, str):
            check_name(session)
        self._wanted = session
        return super().reset()

    def _reset(self) -> tuple[str, Observation]:
        answer = self._place.reset(self._wanted)
        self.current_state = WebshopState(value=answer)
        return answer["obs"], self._observation(answer, INTRODUCTION, ":")

    def _step(self, action: Action) -> tuple[State, Observation]:
        if self.current_state is None:
            raise UserError("call reset() before step()")
        if len(action.value) > LONGEST_ACTION:
            answer = self.current_state.value | {"done": False, "reward": 0}
            self.current_state = WebshopState(value=dict(sorted(answer.items())))
            observation = self._observation(answer, f"{TOO_LONG}\n", "", TOO_LONG)
            return self.current_state, replace(observation, valid=False)
        answer = self._place.step(action.value)
        self.current_state = WebshopState(value=answer)
        observation = self._observation(answer, "", "")
        return self.current_state, replace(observation, valid=self._place.valid)

    def _observation(
        self, answer: dict[str, Any], before: str, colon: str, said: str = ""
    ) -> Observation:
        available = answer["available_actions"]
        done = bool(answer.get("done", False))
        return WebshopObservation(
            output=f"{before}{answer['obs']}\nAvailable actions in json{colon}\n"
            f"{json.dumps(available)}",
            success=done,
            can_proceed=not done,
            text=f"{said}\n{answer['obs']}" if said else answer["obs"],
            admissible=WebshopUtils.admissible(available),
        )
