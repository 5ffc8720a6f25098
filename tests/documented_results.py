"""The shape of results.json as it is documented: the keys in their order, and each value's type.

The document's own example is not valid JSON, so the shape is written down here.
"""

from typing import Any

DOCUMENTED: dict[str, Any] = {
    "model": str,
    "timestamp": str,
    "config": {
        "num_games": int,
        "task_types": [int],
        "seed": int,
        "use_few_shot": bool,
        "max_steps": int,
        "temperature": float,
        "max_tokens": int,
    },
    "summary": {"total_games": int, "successes": int, "success_rate": float, "avg_steps": float},
    "results": [
        {
            "task_type": int,
            "game_id": str,
            "success": bool,
            "steps": int,
            "actions": [str],
            "observations": [str],
            "game_file": str,
        }
    ],
}


def require_shape(value: Any, shape: Any, where: str = "results.json") -> None:
    """Assert that a value has this shape; lists must have items to be judged by."""
    if isinstance(shape, dict):
        assert isinstance(value, dict), where
        assert list(value)[: len(shape)] == list(shape), f"{where}: the documented keys come first"
        for key, inner in shape.items():
            require_shape(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        assert value, f"{where} is empty"
        for position, item in enumerate(value):
            require_shape(item, shape[0], f"{where}[{position}]")
    else:
        assert type(value) is shape, f"{where} is {value!r}"
