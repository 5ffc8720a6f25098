"""Where pages are: at a server's addresses, or as files next to each other.

Pages are written once and know only an `Addresses`; what a page cannot lead to
(a comparison nobody exported, playing without a server) has no address there.
"""

import copy
from collections.abc import Container, Sequence
from functools import lru_cache
from urllib.parse import quote, quote_plus, urlencode

from agentquest.words import slug

# Of each run in an export have pages of their own: more take minutes, and nobody reads them all.
MOST_EPISODES = 1000


class Addresses:
    """Of `agentquest view`: its server filters, follows and plays (`served`)."""

    served = True

    def asset(self, name: str) -> str:
        """A style sheet, script or picture."""
        return f"/static/{name}"

    def page(self, name: str) -> str | None:
        """A page of the navigation, by its name in `pages.PAGES`."""
        return "/" if name == "runs" else f"/{name}"

    def run(self, name: str, start: int = 0) -> str:
        """A run; `start` is the first episode to list."""
        return f"/run/{quote(name)}" + (f"?from={start}" if start else "")

    def episode(self, run: str, key: str, step: int | None = None) -> str | None:
        """An episode; with `step`, opened there."""
        return f"/episode?{_query(run, key, step)}"

    def count_unlinked(self, run: str) -> int:
        """How many episodes of a run have no page."""
        return 0

    def prompts(self, run: str, key: str, step: int) -> str:
        """The prompt of a step, whole."""
        return f"/prompt?{_query(run, key, step)}"

    def play_on(self, run: str, key: str, step: int) -> str | None:
        """Where a person goes on from a step."""
        return f"/play-on?{_query(run, key, step)}"

    def compare(self, runs: Sequence[str], task: str | None = None) -> str | None:
        """Runs side by side, or one task of theirs."""
        chosen = [("run", name) for name in runs]
        if task is None:
            return f"/compare?{urlencode(chosen)}"
        return f"/compare?{urlencode([*chosen, ('task', task)])}#pair"


SITE = Addresses()


class FileAddresses(Addresses):
    """Of an export: its files, as seen from the topmost folder or another one.

    A name of a record never is a file's name as it stands.
    """

    served = False

    def __init__(self, page_size: int) -> None:
        self.pages: dict[str, str] = {}
        self.comparisons: dict[tuple[tuple[str, ...], str | None], str] = {}
        self._page_size = page_size
        self._folders: dict[str, str] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._unlinked: dict[str, int] = {}
        self._up = ""

    def seen_from(self, file: str) -> "FileAddresses":
        """The same files, as a page in this one leads to them."""
        there = copy.copy(self)
        there._up = "../" * file.count("/")
        return there

    def add_run(self, name: str, keys: Sequence[str], shown: Container[str], alone: bool) -> None:
        """Of its episodes those `shown` have pages; `alone`: the run is all that there is."""
        plain = slug(name).strip(".-")[:80] or "run"
        self._folders[name] = "" if alone else f"run/{len(self._folders) + 1}-{plain}/"
        numbers = {key: number for number, key in enumerate(keys, start=1) if key in shown}
        self._numbers[name] = numbers
        self._unlinked[name] = len(keys) - len(numbers)

    def asset(self, name: str) -> str:
        return f"{self._up}static/{name}"

    def page(self, name: str) -> str | None:
        return self._up + self.pages[name] if name in self.pages else None

    def run(self, name: str, start: int = 0) -> str:
        page = f"page-{start // self._page_size + 1}" if start else "index"
        return f"{self._up}{self._folders[name]}{page}.html"

    def episode(self, run: str, key: str, step: int | None = None) -> str | None:
        number = self._numbers[run].get(key)
        if number is None:
            return None
        place = "" if step is None else f"?step={step}#step-{step}"
        return f"{self._up}{self._folders[run]}{number}.html{place}"

    def count_unlinked(self, run: str) -> int:
        return self._unlinked[run]

    def prompts(self, run: str, key: str, step: int | None = None) -> str:
        place = "" if step is None else f"#prompt-{step}"
        return f"{self._up}{self._folders[run]}{self._numbers[run][key]}-prompts.html{place}"

    def play_on(self, run: str, key: str, step: int) -> str | None:
        return None

    def compare(self, runs: Sequence[str], task: str | None = None) -> str | None:
        file = self.comparisons.get((tuple(runs), task))
        return None if file is None else self._up + file


def _query(run: str, key: str, step: int | None) -> str:
    place = "" if step is None else f"&step={step}"
    return f"run={_quote(run)}&episode={_quote(key)}{place}"


# A page names its run and its episode hundreds of times.
_quote = lru_cache(maxsize=4096)(quote_plus)
