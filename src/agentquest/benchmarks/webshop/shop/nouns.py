"""The nouns of a product title, which decide whether the right kind of thing was bought.

The original asks spaCy. Where spaCy and any English model of it are installed we
ask it too; else a small tagger of our own answers (`title_tagger`). Each gives its
`name`, which is in every record, because no two of them always agree: not ours
and spaCy's, nor spaCy's own versions.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import logging
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from agentquest.benchmarks.webshop.shop.title_tagger import BOUGHT, WANTED, title_nouns

logger = logging.getLogger(__name__)

BUILT_IN = "agentquest-titles-2"
_NOUN_TAGS = frozenset({"NOUN", "PROPN"})
_UNNEEDED = ("parser", "ner", "lemmatizer", "senter")
_SIZES = ("_sm", "_md", "_lg", "_trf")  # the original's is the small one


class Nouns(Protocol):
    """Finds the nouns of a title; `name` says by which means."""

    @property
    def name(self) -> str:
        """How records name the means: our own tagger, or spaCy's model and its version."""
        ...

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        """Lower-cased, repeats included; `bought` is the product that is judged."""


class TitleNouns:
    """Our own tagger for product titles."""

    name = BUILT_IN

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        return title_nouns(title, BOUGHT if bought else WANTED)


class SpacyNouns:
    """A spaCy model, as in the original; `model` is a name or a folder."""

    def __init__(self, model: str) -> None:
        spacy = importlib.import_module("spacy")
        self._model = model
        self._pipeline: Any = spacy.load(model, exclude=list(_UNNEEDED))
        meta = self._pipeline.meta
        self.name = f"{meta['lang']}_{meta['name']}-{meta['version']}/spacy-{spacy.__version__}"
        self._of = lru_cache(maxsize=65_536)(self._tag)

    def __reduce__(self) -> tuple[type["SpacyNouns"], tuple[str]]:
        return SpacyNouns, (self._model,)

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        return self._of(title)

    def _tag(self, title: str) -> tuple[str, ...]:
        return tuple(t.text.lower() for t in self._pipeline(title) if t.pos_ in _NOUN_TAGS)


@lru_cache(maxsize=1)
def best_nouns() -> Nouns:
    """spaCy where an English model is installed, else our own tagger."""
    if importlib.util.find_spec("spacy") is not None:
        for model in english_models():
            try:
                return SpacyNouns(model)
            except Exception as error:
                # spaCy's own code: what a model of another version does there is anything.
                logger.warning("the spaCy model %s cannot be used: %s", model, error)
    return TitleNouns()


def english_models() -> list[str]:
    """The folders of all English models that are installed, the small ones first.

    Some packages can be loaded by their name and some by their folder only, and all of
    them have a folder: the one with the settings of a pipeline beside a description.
    """
    found: dict[str, tuple[int, str]] = {}
    for folder in _model_folders():
        meta = _description(folder)
        if meta.get("lang") == "en" and "tagger" in str(meta.get("pipeline", meta)):
            name = str(meta.get("name", ""))
            size = next((i for i, end in enumerate(_SIZES) if end in f"_{name}"), len(_SIZES))
            found[str(folder)] = (size, name)
    return sorted(found, key=found.__getitem__)


def _model_folders() -> Iterator[Path]:
    for distribution in importlib.metadata.distributions():
        if str(distribution.metadata["Name"]).lower().startswith("en"):
            for file in distribution.files or ():
                if file.name == "config.cfg":
                    yield Path(str(distribution.locate_file(file))).parent


def _description(folder: Path) -> dict[str, Any]:
    try:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}
