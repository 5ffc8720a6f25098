"""Where pages are: at a server's addresses, or as files next to each other.

Pages are written once and know only an `Addresses`; what a page cannot lead to
(a comparison nobody exported, playing without a server) has no address there.
"""

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
    """Of an export, as seen from the folder `at`; `files` says where each page is."""

    served = False

    def __init__(self, files: "Files", at: str = "") -> None:
        self._files = files
        self._up = "../" * at.count("/")

    def asset(self, name: str) -> str:
        return f"{self._up}static/{name}"

    def page(self, name: str) -> str | None:
        file = self._files.pages.get(name)
        return None if file is None else self._up + file

    def run(self, name: str, start: int = 0) -> str:
        return self._up + self._files.run_file(name, start)

    def episode(self, run: str, key: str, step: int | None = None) -> str | None:
        if not self._files.has_page(run, key):
            return None
        place = "" if step is None else f"?step={step}#step-{step}"
        return f"{self._up}{self._files.episode_file(run, key)}{place}"

    def count_unlinked(self, run: str) -> int:
        return self._files.unlinked[run]

    def prompts(self, run: str, key: str, step: int) -> str:
        return f"{self._up}{self._files.prompts_file(run, key)}#prompt-{step}"

    def play_on(self, run: str, key: str, step: int) -> str | None:
        return None

    def compare(self, runs: Sequence[str], task: str | None = None) -> str | None:
        file = self._files.comparisons.get((tuple(runs), task))
        return None if file is None else self._up + file


class Files:
    """The files of an export. A name of a record never is a file's name as it stands."""

    def __init__(self, page_size: int) -> None:
        self.pages: dict[str, str] = {}
        self.comparisons: dict[tuple[tuple[str, ...], str | None], str] = {}
        self.unlinked: dict[str, int] = {}
        self._folders: dict[str, str] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        self._page_size = page_size

    def add_run(self, name: str, keys: Sequence[str], shown: Container[str], alone: bool) -> str:
        """The folder of a run; `shown` episodes have pages; `alone`: it is all that there is."""
        plain = slug(name).strip(".-")[:80] or "run"
        folder = "" if alone else f"run/{len(self._folders) + 1}-{plain}/"
        self._folders[name] = folder
        numbers = {key: number for number, key in enumerate(keys, start=1) if key in shown}
        self._numbers[name] = numbers
        self.unlinked[name] = len(keys) - len(numbers)
        return folder

    def run_file(self, name: str, start: int = 0) -> str:
        """A page of a run's episodes: the one that begins with episode `start`."""
        page = "index" if not start else f"page-{start // self._page_size + 1}"
        return f"{self._folders[name]}{page}.html"

    def has_page(self, run: str, key: str) -> bool:
        """Whether an episode is shown by itself."""
        return key in self._numbers[run]

    def episode_file(self, run: str, key: str) -> str:
        """An episode's file, named by its number in the run."""
        return f"{self._folders[run]}{self._numbers[run][key]}.html"

    def prompts_file(self, run: str, key: str) -> str:
        """The file with all prompts of an episode."""
        return f"{self._folders[run]}{self._numbers[run][key]}-prompts.html"


def _query(run: str, key: str, step: int | None) -> str:
    place = "" if step is None else f"&step={step}"
    return f"run={_quote(run)}&episode={_quote(key)}{place}"


# A page names its run and its episode hundreds of times.
_quote = lru_cache(maxsize=4096)(quote_plus)
