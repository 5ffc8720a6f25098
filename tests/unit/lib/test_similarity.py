"""Similarity and repetition against their definitions, written out the slow way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.lib import repetition_rate, repetitions, similarity

TEXTS = st.text(alphabet="ab 1é", max_size=12)
ACTIONS = st.lists(st.text(alphabet="ab1", max_size=4), max_size=10)
THETAS = st.one_of(st.sampled_from([0.0, 0.5, 0.8, 1.0, 1.5]), st.floats(0, 1))


def common_subsequence(a: str, b: str) -> int:
    """Length of the longest common subsequence, by the textbook table."""
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


@given(TEXTS, TEXTS)
def test_similarity_is_the_indel_ratio(a: str, b: str) -> None:
    total = len(a) + len(b)
    expected = 2 * common_subsequence(a, b) / total if total else 1.0
    assert similarity(a, b) == pytest.approx(expected)
    assert similarity(a, b) == similarity(b, a)


@given(TEXTS, TEXTS)
def test_only_equal_texts_are_wholly_alike(a: str, b: str) -> None:
    assert (similarity(a, b) == 1.0) == (a == b)


@given(ACTIONS, THETAS)
def test_repetitions_are_the_actions_that_are_not_unique(actions: list[str], theta: float) -> None:
    unique = 0
    for i, action in enumerate(actions):
        unique += all(similarity(action, earlier) < theta for earlier in actions[:i])
    assert repetitions(actions, theta) == len(actions) - unique


@given(ACTIONS, THETAS, st.one_of(st.none(), st.integers(-1, 30)))
def test_rate(actions: list[str], theta: float, steps: int | None) -> None:
    rate = repetition_rate(actions, theta, steps)
    possible = (len(actions) if steps is None else steps) - 1
    if possible < 1 or not actions:
        assert rate == 0.0
    else:
        assert rate == repetitions(actions, theta) / possible
    if steps is None:
        assert 0.0 <= rate <= 1.0


@pytest.mark.parametrize(("actions", "theta", "steps", "expected"), [
    ([], 1.0, None, 0.0),
    (["look"], 1.0, None, 0.0),
    (["look", "look"], 1.0, None, 1.0),
    (["look", "look"], 1.0, 1, 0.0),
    (["look", "look", "inventory"], 1.0, None, 0.5),
    (["look", "look", "inventory"], 1.0, 10, 1 / 9),
    (["go to drawer 1", "go to drawer 2"], 1.0, None, 0.0),
    (["go to drawer 1", "go to drawer 2"], 0.9, None, 1.0),
    (["go to drawer 1", "go to fridge 1"], 0.9, None, 0.0),
])  # fmt: skip
def test_worked_values(
    actions: list[str], theta: float, steps: int | None, expected: float
) -> None:
    assert repetition_rate(actions, theta, steps) == pytest.approx(expected)
