"""Which words of a title are nouns: our tagger, spaCy's models, and which one is asked."""

import gzip
import json
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.driver import WebshopDriver
from agentquest.benchmarks.webshop.shop import nouns as nouns_module
from agentquest.benchmarks.webshop.shop.nouns import (
    BUILT_IN,
    TitleNouns,
    best_nouns,
    english_models,
    title_nouns,
)
from shared_data import WEBSHOP, needs_webshop


@settings(deadline=None)
@given(st.text())
def test_any_title_can_be_tagged(title):
    assert set(title_nouns(title, 1.0)) <= set(title_nouns(title))


@pytest.mark.parametrize(
    ("title", "nouns"),
    [
        ("Women's Canvas Shoes for the Beach", ["women", "canvas", "shoes", "beach"]),
        ("soft and warm Bag with zipper", ["bag", "zipper"]),
        ("Pack of 12, 500g", ["pack"]),
        ("", []),
    ],
)
def test_nouns_of_titles(title, nouns):
    assert list(title_nouns(title)) == nouns


def _shares(bought, wanted):
    share = len(set(bought) & set(wanted)) / len(wanted) if wanted else 0.2
    return (share > 0) + (share >= 0.1) + (share > 0.2)


@needs_webshop
def test_our_tagger_is_neither_kinder_nor_stricter_than_the_originals():
    """Pairs of the half of the official titles that nothing was fitted to."""
    tags = json.loads(gzip.decompress((WEBSHOP / "golden/title_pos.json.gz").read_bytes()))
    items = json.loads((WEBSHOP / "data/items_shuffle_1000.json").read_bytes())
    titles = {item["asin"]: item["name"] for item in items}
    unseen = list(tags)[1::2]
    theirs = {a: [t.lower() for t, tag in tags[a] if tag in ("NOUN", "PROPN")] for a in unseen}
    ours = TitleNouns()
    rng = random.Random(1)
    higher = lower = 0
    pairs = [rng.sample(unseen, 2) for _ in range(20_000)]
    for bought, wanted in pairs:
        original = _shares(theirs[bought], theirs[wanted])
        found = _shares(ours(titles[bought], bought=True), ours(titles[wanted]))
        higher += found > original
        lower += found < original
    assert higher + lower < 0.03 * len(pairs)
    assert lower / 1.5 < higher < 1.5 * lower  # it was four times as often too kind


def _package(folder, package, **meta):
    """A model as pip leaves it: a folder of the pipeline, and the list of what was installed."""
    model = folder / package / f"{package}-1.0"
    model.mkdir(parents=True)
    (model / "config.cfg").write_text("")
    (model / "meta.json").write_text(json.dumps({"lang": "en", "pipeline": ["tagger"]} | meta))
    about = folder / f"{package}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (about / "RECORD").write_text(f"{package}/{package}-1.0/config.cfg,,\n")
    return str(model)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    best_nouns.cache_clear()
    yield tmp_path
    best_nouns.cache_clear()


def test_every_english_model_is_found_whatever_its_package_is_called(installed):
    before = set(english_models())
    large = _package(installed, "en_core_web_lg", name="core_web_lg")
    small = _package(installed, "en_core_web_sm_somebodys", name="core_web_sm_somebodys")
    _package(installed, "en_german", lang="de", name="german")
    _package(installed, "en_without", pipeline=["ner"], name="without")
    (installed / "en_torn").mkdir()
    torn = _package(installed, "en_torn_too")
    (installed / "en_torn_too/en_torn_too-1.0/meta.json").write_text("{")
    found = [model for model in english_models() if model not in before]
    assert found == [small, large]
    assert torn not in found


def test_a_model_that_cannot_be_used_is_passed_over_and_told(installed, monkeypatch, caplog):
    spacy = installed / "spacy"
    spacy.mkdir()
    (spacy / "__init__.py").write_text("def load(*a, **k):\n    raise OSError('made for v4')\n")
    monkeypatch.delitem(sys.modules, "spacy", raising=False)
    monkeypatch.setattr(nouns_module, "english_models", lambda: ["somewhere"])
    assert best_nouns().name == BUILT_IN
    assert "somewhere cannot be used: made for v4" in caplog.text
    sys.modules.pop("spacy", None)


def test_an_installed_model_is_asked_and_named():
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed")
    if not english_models():
        pytest.skip("no English model is installed")
    nouns = best_nouns()
    assert nouns.name.startswith("en_")
    assert spacy.__version__ in nouns.name
    assert "backpack" in nouns("Tarnwell Canvas Backpack")


def test_records_name_the_tagger():
    assert WebshopDriver().facts() == {"tagger": best_nouns().name}
