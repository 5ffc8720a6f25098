"""How alike two actions are, and how often an agent repeats itself."""

from collections.abc import Sequence

from rapidfuzz.distance import Indel


def similarity(a: str, b: str) -> float:
    """Levenshtein ratio of two action values, in [0, 1]."""
    return Indel.normalized_similarity(a, b)


def repetitions(values: Sequence[str], theta_a: float = 1.0) -> int:
    """Actions that are at least `theta_a` alike to some earlier one."""
    if theta_a >= 1.0:
        return len(values) - len(set(values)) if theta_a == 1.0 else 0
    return sum(
        any(similarity(value, earlier) >= theta_a for earlier in values[:i])
        for i, value in enumerate(values)
    )


def repetition_rate(
    values: Sequence[str], theta_a: float = 1.0, num_execution_steps: int | None = None
) -> float:
    """Repetitions per possible repetition; 0.0 where none is possible."""
    steps = len(values) if num_execution_steps is None else num_execution_steps
    if steps <= 1 or not values:
        return 0.0
    return repetitions(values, theta_a) / (steps - 1)
