"""What a run is: everything that was decided before its first episode, written once.

A manifest is one typed model. Resuming, reports, comparison and the viewer read
its fields; nobody looks into loose dictionaries.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from agentquest.records.base import Anything, Many, Record, Text, Texts
from agentquest.records.outcome import AgentFaults
from agentquest.records.usage import Price

MANIFEST_VERSION: Literal[2] = 2
MEASURED_VERSION: Literal[1] = 1

Count = Annotated[int, Field(ge=0, le=10**9)]


class PublishedScore(Record):
    """Scores of one table of a paper or repository, in percent, by model.

    `n` is the number of games or goals where it is told, `where` the table and page, and
    `verified` whether the scores were seen at `address` when it was `looked_up`. Scores that were
    not are shown as such, and never compared with.
    """

    source: Text
    setting: Text
    scores: dict[Text, float]
    metric: Literal["success", "reward", "progress"] = "success"
    n: int | None = Field(default=None, ge=1)
    where: Text = ""
    address: Text = ""
    looked_up: Text = ""
    verified: bool = False

    @model_validator(mode="after")
    def _is_looked_up(self) -> "PublishedScore":
        if self.verified and not (self.address and self.looked_up):
            raise ValueError("a verified score needs its address and the date it was looked up")
        return self


class Provenance(Record):
    """Where the tasks come from. `details` are the benchmark's own facts, by name."""

    data: Text  # real, builtin or generated
    data_path: Text | None = None
    split: Text
    details: dict[Text, Text] = Field(default_factory=dict)
    warning: Text = ""  # what is wrong with the data, for reports


class Verbs(Record):
    """How a benchmark's commands for opening, closing and walking begin; empty: it has none."""

    open: Text = ""
    close: Text = ""
    walk: Text = ""


class AssessedAgent(Record):
    """The agent behind an A2A address, as its card describes it; `skills` is a hash of what it
    offers, `label` what the user calls it."""

    name: Text
    version: Text = ""
    skills: Text = ""
    model: Text | None = None
    label: Text = ""

    @property
    def title(self) -> str:
        """What reports call it."""
        return self.label or self.name

    def differences(self, other: "AssessedAgent") -> list[str]:
        """What tells the other agent from this one, one line each."""
        return [
            f"assessed agent, {field}: was {was!r}, is {now!r}"
            for field in ("name", "version", "skills", "model")
            if (was := getattr(self, field)) != (now := getattr(other, field))
        ]


class Manifest(Record):
    """A run's identity. `deciding` holds what can change a score, `config` everything."""

    schema_version: Literal[2] = MANIFEST_VERSION
    run_id: Text
    created_at: Text
    benchmark: Text
    benchmark_title: Text = ""
    provenance: Provenance
    protocol: Text | None = None
    comparable_with: Many[PublishedScore] = Field(default_factory=list)
    not_comparable_with: dict[Text, Text] = Field(default_factory=dict)  # source: why not
    agent: Text  # what played: the name on its card, if it is called over A2A
    assessed: AssessedAgent | None = None
    informed: bool = False  # the agent was shown the oracle's plan
    model: Text | None = None
    agent_faults: AgentFaults
    max_steps: Count
    trials: Count
    metrics: Texts = Field(default_factory=list)
    cleanup_applies: bool = True  # there are things to open and close
    verbs: Verbs = Verbs()
    task_types: Texts
    chosen_types: Texts | None = None  # those that were asked for; None: all
    task_ids: Texts
    versions: dict[Text, Text]
    price: Price | None = None  # of tokens, now: for calls that had no price when they were made
    config_hash: Text
    data_hash: Text
    config: Anything = Field(default_factory=dict)
    deciding: Anything = Field(default_factory=dict)
    sources: dict[Text, Text] | None = None  # the user's code: its hashes; None: not recorded
    metric_sources: dict[Text, Text] = Field(default_factory=dict)
    changes: Texts = Field(default_factory=list)  # of sources, between parts of the run
    notes: Texts = Field(default_factory=list)
    tags: Texts = Field(default_factory=list)
    note: Text = ""  # the user's own; `notes` are the selection's

    @model_validator(mode="before")
    @classmethod
    def _add_verbs(cls, given: Any) -> Any:
        """Version 0.2 wrote no verbs; it looked for these in the commands of every benchmark."""
        if not isinstance(given, dict) or "verbs" in given:
            return given
        tidy = {"open": "open", "close": "close"} if given.get("cleanup_applies", True) else {}
        return {**given, "verbs": {**tidy, "walk": "go to"}}

    @property
    def requested(self) -> int:
        """How many episodes the run consists of."""
        return len(self.task_ids) * self.trials

    def section(self, name: str) -> dict[str, Any]:
        """A section of the configuration; empty where it has none."""
        found = self.config.get(name)
        return found if isinstance(found, dict) else {}

    def differences(self, other: "Manifest") -> list[str]:
        """What decides scores and is not the same in `other`, one line each."""
        lines = []
        mine, theirs = flat(self.deciding), flat(other.deciding)
        files = [*(self.sources or {}).values(), *(other.sources or {}).values()]
        for path in sorted({*mine, *theirs}):
            was, now = mine.get(path), theirs.get(path)
            if was != now and not (was in files and now in files):  # see `find_changed`
                lines.append(f"{path}: was {was!r}, is {now!r}")
        for name in ("data_hash", "task_ids", "trials"):
            if getattr(self, name) != getattr(other, name):
                lines.append(f"{name} changed")
        was, now = self.versions.get("agentquest"), other.versions.get("agentquest")
        if was != now:
            lines.append(f"agentquest: was {was}, is {now}")
        return lines


def find_changed(was: dict[str, str] | None, now: dict[str, str] | None) -> list[str]:
    """The sources that differ; one that only moved does not. What was not recorded is unknown."""
    if was is None or now is None:
        return []
    return [
        name
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
        and not (name not in was and now[name] in was.values())
        and not (name not in now and was[name] in now.values())
    ]


class MeasuredMetric(Record):
    """One metric: how it is shown, and by episode its value or why there is none."""

    path: Text
    key: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    heading: Text
    unit: Text
    explanation: Text
    estimator: Literal["rate", "mean"]
    only_solved: bool
    digits: int = Field(ge=0, le=12)
    bounds: tuple[float, float] | None = None
    values: dict[Text, float | None]
    failed: dict[Text, Text] = Field(default_factory=dict)


class MeasuredMetrics(Record):
    """`metrics.json`: the values of the metrics that a configuration names, besides the built-in
    ones. Those are a user's code, which runs only where the run is made; whoever reads the
    folder, here or on another machine, finds the saved values."""

    schema_version: Literal[1] = MEASURED_VERSION
    metrics: Many[MeasuredMetric] = Field(default_factory=list)


def flat(node: Any, path: str = "") -> dict[str, Any]:
    """A nested mapping as dotted paths and their values."""
    if not isinstance(node, dict) or not node:
        return {path: node} if path else {}
    found: dict[str, Any] = {}
    for key, value in node.items():
        found.update(flat(value, f"{path}.{key}" if path else str(key)))
    return found
