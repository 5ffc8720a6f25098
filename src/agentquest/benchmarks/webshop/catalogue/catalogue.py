"""The catalogue that all sessions and processes share: products, columns, search.

It lives in a cache folder named after the content of the data files, is built on
first use, and is memory-mapped: opening it again costs next to nothing, and many
processes share one copy. A damaged one is detected and rebuilt. The data folder
itself is never written to.
"""

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Callable
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.catalogue.build import DataFiles, build, put_away
from agentquest.benchmarks.webshop.catalogue.integrity import damage
from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.catalogue.tables import Rows, find_key
from agentquest.benchmarks.webshop.search.index_build import BuildProgress
from agentquest.benchmarks.webshop.search.search import SearchIndex
from agentquest.errors import DataError
from agentquest.files import hash_file, write_atomically

logger = logging.getLogger(__name__)

_DATA_KEY = "1"  # of the data's name in records; stays while the same files mean the same shop
_FORMAT = "2"  # of the folder
SIZES = {"all": "", "small": "_1000"}
_KEPT_PRODUCTS = 4096
_KEPT_SEARCHES = 1024


class Catalogue:
    """One built catalogue folder, opened for reading; safe to use from many threads."""

    def __init__(self, folder: Path, source: str = "the built-in products") -> None:
        self.folder = folder
        self.source = source  # what it was made from, for error messages
        self._rows = Rows(folder, "rows")
        self._asins = self._column("asins")
        self._asin_numbers = self._column("asin_numbers")
        self.index = SearchIndex(folder)
        self.low, self.high = self._column("low"), self._column("high")
        self.ranged = self._column("ranged")
        self.goal_counts = self._column("goals")
        self.goal_weights = self._column("weights")
        self.instructed = self._column("instructed")
        self.listed = self._column("listed")
        self.human = self._column("human")
        self.product = lru_cache(_KEPT_PRODUCTS)(self._product)
        self.search = lru_cache(_KEPT_SEARCHES)(self._search)

    def __reduce__(self) -> tuple[type["Catalogue"], tuple[Path, str]]:
        return Catalogue, (self.folder, self.source)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def digest(self) -> str:
        """SHA-256 over the files that the catalogue was made from."""
        return self.folder.name.partition("-")[0]

    def _column(self, name: str) -> NDArray[Any]:
        return np.asarray(np.load(self.folder / f"{name}.npy", mmap_mode="r"))

    def _product(self, number: int) -> Product:
        return Product.from_row(self._rows[number])

    def number(self, asin: str) -> int | None:
        """The number of the product with this ASIN, if there is one."""
        at = find_key(self._asins, asin)
        return None if at is None else int(self._asin_numbers[at])

    def _search(self, query: str) -> tuple[int, ...]:
        """The numbers of the products that fit `query` best."""
        return tuple(number for number, _ in self.index.search(query))

    def with_query(self, query: str) -> tuple[int, ...]:
        """All products that were listed under `query`."""
        return self._find_named("query_names", "queries", query)

    def in_category(self, category: str) -> tuple[int, ...]:
        """The numbers of all products of a category."""
        return self._find_named("category_names", "categories", category)

    def _find_named(self, names: str, column: str, name: str) -> tuple[int, ...]:
        rows, wanted = Rows(self.folder, names), name.encode("utf-8", "surrogatepass")
        for number in range(len(rows)):
            if rows[number] == wanted:
                return tuple(np.flatnonzero(self._column(column) == number).tolist())
        return ()


def open_catalogue(
    data: str | os.PathLike[str] | None = None,
    *,
    size: str | None = None,
    num_products: int | None = None,
    cache: Path | None = None,
    progress: BuildProgress | None = None,
) -> Catalogue:
    """The catalogue of the official files in `data`, or the built-in one; built if necessary."""
    is_number = isinstance(num_products, Integral) and not isinstance(num_products, bool)
    if num_products is not None and not (is_number and num_products > 0):
        raise DataError(f"num_products must be 1 or more, or None, not {num_products!r}")
    root = cache or cache_folder()
    if data is None:
        return _open_builtin(root, num_products, progress)
    return _open_official(find_files(Path(data), size, num_products), root, progress)


def cache_folder() -> Path:
    """The folder of cached catalogues; AGENTQUEST_CACHE moves it."""
    root = os.environ.get("AGENTQUEST_CACHE")
    return (Path(root) if root else Path.home() / ".cache" / "agentquest") / "webshop"


def find_files(folder: Path, size: str | None = None, num_products: int | None = None) -> DataFiles:
    """The official files in `folder`; the error names a missing one."""
    if not folder.is_dir():
        raise DataError(
            f"{folder}: no WebShop data there; `agentquest download webshop` fetches it"
        )
    if size is not None and size not in SIZES:
        raise DataError(f"size must be one of {', '.join(SIZES)}, not {size!r}")
    wanted = [size] if size else list(SIZES)
    present = [s for s in wanted if (folder / f"items_shuffle{SIZES[s]}.json").is_file()]
    if not present:
        names = " or ".join(f"items_shuffle{SIZES[s]}.json" for s in wanted)
        raise DataError(f"{folder}: {names} is missing")
    if len(present) > 1:
        raise DataError(f"{folder}: has both sizes; choose with size='small' or size='all'")
    ending = SIZES[present[0]]
    instructions = folder / f"items_ins_v2{ending}.json"
    if not instructions.is_file():
        raise DataError(f"{folder}: {instructions.name} is missing")
    human = folder / "items_human_ins.json"
    items = folder / f"items_shuffle{ending}.json"
    return DataFiles(items, instructions, human if human.is_file() else None, num_products)


def _open_official(files: DataFiles, root: Path, progress: BuildProgress | None) -> Catalogue:
    digests = [_digest_of(path, root) for path in files.paths if path]
    target = root / _folder_name([*digests, str(files.num_products)])
    _make_sound(target, lambda: build(files, target, progress))
    return Catalogue(target, str(files.items))


def _open_builtin(
    root: Path, num_products: int | None, progress: BuildProgress | None
) -> Catalogue:
    from agentquest.benchmarks.webshop.catalogue.builtin import DIGESTS, official_files

    first = [] if num_products is None else [str(num_products)]
    target = root / _folder_name([*DIGESTS, *first])

    def make() -> None:
        contents = official_files()
        if tuple(hashlib.sha256(text).hexdigest() for text in contents.values()) != DIGESTS:
            raise DataError("this Python generates different built-in products; please report it")
        with tempfile.TemporaryDirectory() as folder:
            for name, content in contents.items():
                (Path(folder) / name).write_bytes(content)
            build(find_files(Path(folder), num_products=num_products), target, progress)

    _make_sound(target, make)
    return Catalogue(target)


def _make_sound(target: Path, make: Callable[[], None]) -> None:
    """Build the catalogue at `target` if it is missing or damaged."""
    if target.is_dir():
        problem = damage(target)
        if problem is None:
            return
        logger.warning(
            "the cached WebShop catalogue is damaged (%s) and is rebuilt: %s",
            problem,
            target,
        )
        put_away(target)
    make()


def _folder_name(parts: list[str]) -> str:
    key = hashlib.sha256("\n".join([_DATA_KEY, *parts]).encode()).hexdigest()
    return f"{key}-{_FORMAT}"


def _digest_of(path: Path, root: Path) -> str:
    """The SHA-256 of a file, remembered while its path, size and time stay the same."""
    stat = path.stat()
    identity = [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
    memo = root / "digests" / f"{hashlib.sha256(str(identity).encode()).hexdigest()[:32]}.json"
    try:
        known = json.loads(memo.read_text("utf-8"))
        if known == _memo(identity, known["sha256"]):
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not hashed yet, or the memo is damaged: hash it now
    digest = hash_file(path)
    try:
        memo.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(memo, json.dumps(_memo(identity, digest)))
    except OSError as error:
        raise DataError(f"{memo.parent}: cannot be written ({error.strerror})") from error
    return digest


def _memo(identity: list[Any], sha256: str) -> dict[str, Any]:
    """A memo of a file's digest, with a checksum: a damaged one would name other data."""
    check = hashlib.sha256(json.dumps([identity, sha256]).encode()).hexdigest()
    return {"file": identity, "sha256": sha256, "check": check}
