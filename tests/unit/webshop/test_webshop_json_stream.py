"""Streaming must read what json.loads reads, and refuse what it refuses."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.catalogue import json_stream
from agentquest.benchmarks.webshop.catalogue.json_stream import elements, members
from agentquest.errors import DataError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(values, max_size=8), st.integers(1, 9), st.sampled_from([None, 1]))
def test_elements_are_those_of_the_list(tmp_path_factory, content, chunk, indent):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(content, indent=indent), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        read = list(elements(path))
    assert [value for value, _, _ in read] == content
    assert [json.loads(text) for _, text, _ in read] == content


@settings(deadline=None)
@given(st.dictionaries(st.text(), values, max_size=8), st.integers(1, 9))
def test_members_are_those_of_the_object(tmp_path_factory, content, chunk):
    path = tmp_path_factory.mktemp("json") / "a.json"
    path.write_text(json.dumps(content, ensure_ascii=False), "utf-8", "surrogatepass")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", chunk)
        read = {key: json.loads(text) for key, text in members(path)}
    assert read == content


def test_an_error_tells_where_a_number_at_the_end_of_the_file_stops(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"0": -0. 0}', "utf-8")
    with pytest.raises(DataError, match=r"a comma or '}' was expected at character 8$"):
        list(members(path))


@pytest.mark.parametrize(
    "text", ["", "{}", "[1", "[1,]", "[1 2]", "[1] x", "[tru]", '["a', "[" * 100_000, "[,1]"]
)
def test_malformed_lists_are_refused_with_the_file_named(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"bad\.json"):
        list(elements(path))


@pytest.mark.parametrize("text", ["[]", "{1: 2}", '{"a" 1}', '{"a": 1', '{"a": 1,}'])
def test_malformed_objects_are_refused(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"bad\.json"):
        list(members(path))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(b'["\xff\xfe"]')
    with pytest.raises(DataError, match="UTF-8"):
        list(elements(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        list(elements(tmp_path / "nowhere.json"))


def test_long_runs_of_blanks_are_passed(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(f"[{' ' * 9_000_000}1{' ' * 9_000_000}]", "utf-8")
    assert [value for value, _, _ in elements(path)] == [1]


@pytest.mark.parametrize("text", ['["' + "x" * 400, "[[" + "[]," * 200, '[{"a":' + "1" * 400])
def test_an_endless_element_is_refused(tmp_path, monkeypatch, text):
    monkeypatch.setattr(json_stream, "CHUNK", 10)
    monkeypatch.setattr(json_stream, "LARGEST_ELEMENT", 100)
    path = tmp_path / "bad.json"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=r"bad\.json: malformed JSON, or more than 100 characters"):
        list(elements(path))
