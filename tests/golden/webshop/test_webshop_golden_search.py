"""Analysis and ranking against what Lucene gave for the same texts."""

from collections import Counter

from agentquest.benchmarks.webshop.search import search
from agentquest.benchmarks.webshop.search.analysis import analyse
from shared_data import needs_webshop

pytestmark = needs_webshop


def test_every_document_has_lucenes_terms(catalogue, recordings):
    lines = recordings("lucene_doc_terms.jsonl.gz")
    assert len(lines) == len(catalogue)
    for line in lines:
        product = catalogue.product(catalogue.number(line["id"]))
        assert Counter(analyse(product.document)) == line["terms"], line["id"]


def test_every_query_has_lucenes_tokens(recordings):
    for query, tokens in recordings("lucene_query_tokens.json").items():
        assert analyse(query) == tokens, query


def _check_rankings(catalogue, recordings):
    for line in recordings("lucene_top50.jsonl"):
        hits = catalogue.index.search(line["query"])
        ours = [(catalogue.product(number).asin, score) for number, score in hits]
        assert [asin for asin, _ in ours] == [asin for asin, _ in line["hits"]], line["query"]
        for (_, score), (_, lucenes) in zip(ours, line["hits"], strict=True):
            assert abs(score - lucenes) < 1e-4, line["query"]  # it was rounded to 4 decimals


def test_every_ranking_is_lucenes(catalogue, recordings):
    _check_rankings(catalogue, recordings)


def test_pruning_changes_no_ranking(catalogue, recordings, monkeypatch):
    for name, value in {"_WORTH_PRUNING": 0, "_LOOKUP_COST": 0, "_LIKELY": 1e9}.items():
        monkeypatch.setattr(search, name, value)
    _check_rankings(catalogue, recordings)
