"""The index against a plain computation of the same formula."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.search import index_build, search
from agentquest.benchmarks.webshop.search.analysis import analyse
from agentquest.benchmarks.webshop.search.index_build import (
    IndexWriter,
    count_terms,
    decode_length,
    encode_length,
)
from agentquest.benchmarks.webshop.search.search import SearchIndex

WORDS = [f"w{i}x" for i in range(12)]
texts = st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join)


def _index(folder, documents, batches=3):
    writer = IndexWriter(folder)
    for i in range(batches):
        size = -(-len(documents) // batches)
        writer.add(count_terms(documents[i * size : (i + 1) * size]))
    ranks = np.arange(len(documents))[::-1]  # equal scores: the last document first
    writer.finish(ranks)
    return SearchIndex(folder)


def _plain(documents, query):
    """The formula, document by document, in 32-bit steps."""
    one, k1, b = np.float32(1), np.float32(0.9), np.float32(0.4)
    counted = [Counter(analyse(document)) for document in documents]
    filled = [terms for terms in counted if terms]
    average = np.float32(sum(t.total() for t in filled) / max(len(filled), 1))
    frequency = Counter(term for terms in counted for term in terms)
    found = []
    for number, terms in enumerate(counted):
        length = decode_length(encode_length(np.array([terms.total()]))).astype(np.float32)[0]
        total = 0.0
        for term, n in Counter(analyse(query)).items():
            if terms[term]:
                df = frequency[term]
                idf = np.float32(math.log(1 + (len(filled) - df + 0.5) / (df + 0.5)))
                weight = np.float32(n) * idf
                inverse = one / (k1 * ((one - b) + b * length / average))
                total += float(weight - weight / (one + np.float32(terms[term]) * inverse))
        if total:
            found.append((number, float(np.float32(total))))
    return sorted(found, key=lambda hit: (-hit[1], -hit[0]))[:50]


@settings(deadline=None, max_examples=60)
@given(st.lists(texts, max_size=200), st.lists(texts, min_size=1, max_size=5), st.booleans())
def test_rankings_are_those_of_the_formula(tmp_path_factory, documents, queries, prune):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_WORTH_PRUNING", 0 if prune else 1 << 60)
        patch.setattr(search, "_LOOKUP_COST", 0)
        patch.setattr(search, "_LIKELY", 1e9)
        patch.setattr(index_build, "BLOCK", 50)
        index = _index(tmp_path_factory.mktemp("index"), documents)
        for query in queries:
            assert index.search(query) == _plain(documents, query)


def test_unknown_words_and_empty_queries_find_nothing(tmp_path):
    index = _index(tmp_path, ["red shoe", "blue shoe"])
    assert index.search("") == []
    assert index.search("the") == []
    assert index.search("zebra") == []
    assert [number for number, _ in index.search("zebra shoes")] == [1, 0]


def test_codes_that_do_not_fit_two_bytes_get_four(tmp_path, monkeypatch):
    monkeypatch.setattr(index_build, "SHORT_CODES", 4)
    documents = ["a1 " * n + "b2" for n in range(1, 40)]
    expected = _plain(documents, "a1 b2")
    index = _index(tmp_path, documents)
    assert index.search("a1 b2") == expected
    assert (tmp_path / "codes.bin").stat().st_size == (tmp_path / "docs.bin").stat().st_size
    assert not list(tmp_path.glob("*.scratch"))


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=2**31 - 25))
def test_lengths_are_kept_as_lucene_keeps_them(length):
    code = encode_length(np.array([length]))
    kept = int(decode_length(code)[0])
    assert kept <= length
    assert length < 40 or kept > length * 0.87
    assert length >= 40 or kept == length


@pytest.mark.parametrize(("length", "kept"), [(40, 40), (41, 40), (42, 42), (57, 56), (1000, 984)])
def test_known_lengths(length, kept):
    assert int(decode_length(encode_length(np.array([length])))[0]) == kept
