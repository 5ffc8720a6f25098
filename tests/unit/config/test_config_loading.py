"""Reading a configuration: every documented parameter, and one clear error for every mistake."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentquest.config import RunConfig, load_config
from agentquest.config.example import example_config
from agentquest.errors import ConfigError, UnknownName, UserError
from agentquest.llms.openai_chat import OpenAIChat
from agentquest.protocols import all_protocols, protocol

KEY = "sk-very-secret-0123456789abcdef"

# Each documented parameter, its flat name, a value, and where the value must arrive.
DOCUMENTED: list[tuple[str, str, Any, str]] = [
    ("model", "model", "qwen/qwen3-8b", "llm.model"),
    ("service address", "API_BASE_URL", "https://openrouter.ai/api/v1", "llm.base_url"),
    ("service key", "API_KEY", KEY, "llm.api_key"),
    ("temperature", "temperature", 0.7, "llm.temperature"),
    ("longest reply", "max_tokens", 512, "llm.max_tokens"),
    ("retries", "max_retries", 3, "llm.max_retries"),
    ("wait between retries", "wait_interval", 2.5, "llm.wait_interval"),
    ("number of games", "num_games", 5, "num_games"),
    ("task types", "task_types", [1, 2, 6], "benchmark_settings.task_types"),
    ("split", "split", "valid_seen", "benchmark_settings.split"),
    ("few-shot examples", "use_few_shot", False, "agent.use_few_shot"),
    ("random seed", "seed", 7, "seed"),
    ("results folder", "output_dir", "results", "output_dir"),
    ("parallel tests", "parallel", 32, "parallel"),
    ("debug mode", "debug", True, "debug"),
    ("step limit", "max_steps", 30, "max_steps"),
]

PROTOCOLS = all_protocols()


def written(tmp_path: Path, content: Any) -> Path:
    file = tmp_path / "run.yaml"
    text = content if isinstance(content, str) else yaml.safe_dump(content)
    file.write_text(text, encoding="utf-8")
    return file


DEFAULTS = load_config(settings={})[0]


def at(config: RunConfig, path: str) -> Any:
    value: Any = config
    for part in path.split("."):
        value = value[part] if isinstance(value, dict) else getattr(value, part)
    return value.get_secret_value() if path == "llm.api_key" else value


def arrived(config: RunConfig, path: str, value: Any) -> None:
    found = at(config, path)
    if isinstance(found, tuple):
        found = list(found)
    if isinstance(found, Path):
        found = str(found)
    assert found == value


def nested(path: str, value: Any) -> dict[str, Any]:
    *parents, last = path.split(".")
    content: dict[str, Any] = {last: value}
    if parents == ["llm"] and last != "model":
        content["model"] = "m"
    for part in reversed(parents):
        content = {part: content}
    return content


@pytest.mark.parametrize(("what", "name", "value", "path"), DOCUMENTED)
def test_every_documented_parameter_is_taken_flat_nested_and_as_an_override(
    what: str, name: str, value: Any, path: str, tmp_path: Path
) -> None:
    flat = {name: value} if path == "llm.model" else {"model": "m", name: value}
    arrived(load_config(written(tmp_path, flat))[0], path, value)
    arrived(load_config(written(tmp_path, nested(path, value)))[0], path, value)
    override = f"{name}={yaml.safe_dump(value, default_flow_style=True).splitlines()[0]}"
    first = [] if path == "llm.model" else ["llm.model=m"]
    arrived(load_config(None, [*first, override])[0], path, value)


def test_the_documents_whole_list_in_one_file(tmp_path: Path) -> None:
    config, warnings = load_config(written(tmp_path, {name: v for _, name, v, _ in DOCUMENTED}))
    for _, _, value, path in DOCUMENTED:
        arrived(config, path, value)
    assert len(warnings) == 1
    assert "api_key_env" in warnings[0]
    assert KEY not in warnings[0]


def test_without_a_file_everything_has_a_default() -> None:
    assert load_config(None) == (DEFAULTS, [])


def test_the_example_is_the_defaults(tmp_path: Path) -> None:
    config, warnings = load_config(written(tmp_path, example_config()))
    assert (config, warnings) == (DEFAULTS, [])


def test_the_examples_model_section_is_valid_once_uncommented(tmp_path: Path) -> None:
    lines = example_config().splitlines()
    start = lines.index("# llm:")
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("#"))
    section = [line.removeprefix("# ") for line in lines[start:end]]
    without_null = [line for line in lines if line != "llm: null"]
    content = "\n".join([*without_null, *section])
    config, _ = load_config(written(tmp_path, content))
    assert config.llm is not None
    given = OpenAIChat.Settings(
        model="qwen/qwen3-8b",
        base_url="https://openrouter.ai/api/v1",
        api_key_env="OPENROUTER_API_KEY",
    )
    assert config.llm.settings == given.model_dump(mode="json")


def test_the_example_explains_every_key() -> None:
    content = example_config()
    for name in (*RunConfig.model_fields, *OpenAIChat.Settings.model_fields):
        if name != "api_key":
            assert f"{name}:" in content
    for name in PROTOCOLS:
        assert name in content


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"num_game": 5}, "num_game: unknown key; did you mean 'num_games'?"),
        ({"temprature": 1}, "temprature: unknown key; did you mean 'temperature'?"),
        (
            {"llm": {"model": "m", "max_token": 5}},
            "llm.max_token: unknown key; did you mean 'max_tokens'?",
        ),
        (
            {"agent": {"history": 5}},
            "agent.history: unknown key; did you mean 'history_length'?",
        ),
        ({"max_steps": 0}, "max_steps: must be at least 1 (given: 0)"),
        ({"max_steps": "many"}, "max_steps: must be a whole number"),
        ({"num_games": True}, "num_games: must not be true"),
        ({"seed": False}, "seed: must not be false"),
        ({"debug": "perhaps"}, "debug: must be true or false"),
        ({"model": "m", "temperature": 3}, "llm.temperature: must be at most 2"),
        ({"llm": {"temperature": 1}}, "llm.model: llm.temperature is set, but no model"),
        ({"llm": {"modle": "m"}}, "llm.modle: unknown key; did you mean 'model'?"),
        ({"llm": {"temprature": 1}}, "llm.temprature: unknown key; did you mean 'temperature'?"),
        ({"llm": "gpt"}, "llm: must be a section of keys and values"),
        ({"agent": 5}, "agent: must be a section of keys and values"),
        (
            {"benchmark_settings": {"dialekt": 1}},
            "benchmark_settings.dialekt: unknown key; did you",
        ),
        ({"executor": {"name": "local", "workers": 3}}, "executor.workers: unknown key"),
        ({"agent": {"name": "command", "command": []}}, "agent.command: must name at least 1"),
        ({"llm": {"model": "m", "stop": ["x"] * 17}}, "llm.stop: must name at most 16"),
        ({"step_timeout_s": float("inf")}, "step_timeout_s: must be a finite number"),
        ({"run_name": "../up"}, "run_name: must be a name of letters, digits"),
        ({"model": "m", "base_url": "nowhere"}, "llm.base_url: must be an address"),
        ({"tasks": ["a"], "num_games": 2}, "give tasks or num_games, not both"),
        ({"cost_limit": 1}, "cost_limit needs llm.price_per_million_prompt"),
    ],
)
def test_a_mistake_is_named(content: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, content))
    assert said in str(error.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, {"max_steps": 0, "num_game": 5, "parallel": -1}))
    assert len(str(error.value).splitlines()) == 3


@given(
    st.dictionaries(
        st.sampled_from(
            [*RunConfig.model_fields, *OpenAIChat.Settings.model_fields, "x", "llm.model"]
        ),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
            max_leaves=4,
        ),
        max_size=4,
    )
)
def test_whatever_is_in_the_file_there_is_a_configuration_or_a_user_error(
    tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]
) -> None:
    file = written(tmp_path_factory.mktemp("any"), content)
    try:
        config, _ = load_config(file)
    except UserError:
        return
    assert load_config(settings=yaml.safe_load(config.to_yaml()))[0] == config


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("seed: 1\nseed: 2\n", "line 2: 'seed' is given twice"),
        ("llm:\n  model: a\n  model: b\n", "line 3: 'model' is given twice"),
        ("model: a\nllm:\n  model: b\n", "llm.model is given twice"),
        ("llm:\n  model: b\nmodel: a\n", "llm.model is given twice"),
        ("api_base_url: http://a/v1\nbase_url: http://b/v1\n", "llm.base_url is given twice"),
        ("temperature: null\nllm:\n  temperature: 1\n", "llm.temperature is given twice"),
        ("- a\n- b\n", "contains a list"),
        ("a: [1\n", "is not YAML, line"),
    ],
)
def test_what_cannot_be_meant_is_refused(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, text))
    assert said in str(error.value)
    assert "run.yaml" in str(error.value) or "section" in said


def test_an_empty_file_is_the_defaults(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, ""))[0] == DEFAULTS


@pytest.mark.parametrize("section", ["agent", "llm", "executor", "benchmark_settings"])
def test_a_section_without_keys_is_the_defaults(section: str, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(f"{section}:\n#   all of it is commented out\n", encoding="utf-8")
    assert load_config(file)[0] == load_config(None)[0]


def test_a_missing_or_binary_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*nothing\.yaml"):
        load_config(tmp_path / "nothing.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"seed: \xff\xfe")
    with pytest.raises(ConfigError, match=r"binary\.yaml is not UTF-8"):
        load_config(binary)


def test_overrides_go_before_the_file_and_reach_into_sections(tmp_path: Path) -> None:
    file = written(tmp_path, {"seed": 1, "llm": {"model": "a", "temperature": 0.1}})
    config, _ = load_config(
        file, ["seed=2", "llm.temperature=0.9", "agent.history_length=3", "task_types=[heat, 5]"]
    )
    assert config.llm is not None
    assert (config.seed, at(config, "llm.model"), at(config, "llm.temperature")) == (2, "a", 0.9)
    assert config.agent.settings["history_length"] == 3
    assert config.benchmark_settings["task_types"] == ["heat", 5]


def test_one_task_or_type_needs_no_list_and_a_dialect_no_quotes() -> None:
    config, _ = load_config(None, ["task_types=4", "tasks=some-task", "dialect=0.3"])
    assert config.benchmark_settings["task_types"] == [4]
    assert config.tasks == ("some-task",)
    assert config.benchmark_settings["dialect"] == "0.3"


@pytest.mark.parametrize("override", ["seed", "=5", ""])
def test_an_override_without_its_form_is_refused(override: str) -> None:
    with pytest.raises(ConfigError, match=r"not of the form key\.path=value"):
        load_config(None, [override])


# What a user has to give under any protocol that needs something.
NEEDED = {
    "agent.prompt_file": "prompt.txt",
    "agent.examples_file": "examples.json",
    "agent.opening_file": "opening.json",
    "tasks": "[a]",
    "benchmark_settings.numbers": "[1, 2]",
}


def under(name: str, *more: str) -> list[str]:
    """A protocol with all that it needs, and a model."""
    needed = [f"{path}={NEEDED[path]}" for path in PROTOCOLS[name].needs]
    return [f"protocol={name}", "model=m", *needed, *more]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_fixes_what_it_names(name: str) -> None:
    config, _ = load_config(None, under(name))
    for path, value in PROTOCOLS[name].settings.items():
        assert at(config, path) == value


@pytest.mark.parametrize(
    ("name", "path"), [(name, path) for name in PROTOCOLS for path in PROTOCOLS[name].needs]
)
def test_what_a_protocol_needs_from_the_user_is_asked_for(name: str, path: str) -> None:
    given = [word for word in under(name) if not word.startswith(path)]
    with pytest.raises(ConfigError) as error:
        load_config(None, given)
    assert str(error.value).startswith(f"{path}: protocol {name!r} needs you to set it: ")


def test_a_protocol_leaves_out_what_the_agent_does_not_have() -> None:
    config, _ = load_config(None, ["protocol=unseen-134", "agent=oracle"])
    assert config.agent.settings == {}
    with pytest.raises(ConfigError, match=r"agent\.use_few_shot: unknown key"):
        load_config(None, ["protocol=unseen-134-two-shot", "agent=oracle"])


# A value other than the one the protocol fixes, for every path that any protocol fixes.
OTHERWISE = {
    "agent.thought_turns": "hm:",
    "agent.ends_on_repeat": "maybe",
    "agent.rewrite": "[]",
    "benchmark": "another",
    "agent.name": "react",
    "agent.style": "none",
    "agent.reader": "line",
    "agent.lower_case": "maybe",
    "agent.tail": 1,
    "agent.read_cut_off": "maybe",
    "agent.history_join": "x",
    "agent.admissible_join": "x",
    "agent.admissible_without": "[x]",
    "agent.leave_out": "[x]",
    "agent.pieces": "x",
    "agent.longest_prompt": 1,
    "agent.when_full": "trim",
    "agent.tools": "[]",
    "benchmark_settings.numbers": "3-4",
    "llm.temperature": 0.9,
    "llm.max_tokens": 9,
    "benchmark_settings.split": "train",
    "benchmark_settings.dialect": "0.4",
    "max_steps": 7,
    "benchmark_settings.task_types": "[1]",
    "num_games": 5,
    "tasks": "[a]",
    "seed": 1,
    "benchmark_settings.goals": "others",
    "benchmark_settings.size": "some",
    "benchmark_settings.strict": "true",
    "benchmark_settings.seed": 1,
    "agent.use_few_shot": "false",
    "agent.num_examples": 1,
    "agent.history_length": 3,
    "agent.history_thoughts": "false",
    "agent.check_valid_actions": "true",
    "agent.prompt_file": "mine.txt",
}


@pytest.mark.parametrize(
    ("name", "path"), [(name, path) for name in PROTOCOLS for path in PROTOCOLS[name].settings]
)
def test_a_protocol_refuses_anything_else(name: str, path: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(None, under(name, f"{path}={OTHERWISE[path]}"))
    assert str(error.value).startswith(f"{path}: protocol {name!r} fixes it to ")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_saying_what_the_protocol_says_is_no_conflict(name: str) -> None:
    same = [f"{path}={yaml.safe_dump(v)}" for path, v in PROTOCOLS[name].settings.items()]
    assert load_config(None, under(name, *same)) == load_config(None, under(name))


def test_every_protocol_fixes_the_list_of_tasks_and_the_prompt() -> None:
    for entry in PROTOCOLS.values():
        assert {
            "benchmark_settings.split",
            "benchmark_settings.task_types",
            "num_games",
            "tasks",
            "agent.prompt_file",
        } <= entry.settings.keys() | entry.needs.keys()
        assert entry.settings["num_games"] is None or "seed" in entry.settings


MINE = """
name: my-setting
description: As in my paper.
settings:
  benchmark: alfworld
  benchmark_settings: {split: valid_seen}
  max_steps: 9
  agent: {name: prompted, prompt_file: prompts/mine.txt, reader: json}
published:
  - {source: my paper, setting: the same, scores: {mine: 12.5}}
refused: {their paper: it counts otherwise}
"""


def test_a_protocol_of_ones_own_is_one_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(MINE, encoding="utf-8")
    config, _ = load_config(None, [f"protocol={file}"])
    assert (config.max_steps, config.agent.settings["reader"]) == (9, "json")
    assert config.agent.settings["prompt_file"] == str(tmp_path / "prompts" / "mine.txt")
    found = protocol(str(file))
    assert (found.name, found.published[0].scores) == ("my-setting", {"mine": 12.5})
    assert found.refused == {"their paper": "it counts otherwise"}
    with pytest.raises(ConfigError, match=r"agent\.name: protocol .* fixes it to 'prompted'"):
        load_config(None, [f"protocol={file}", "agent=react"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "settings: is missing"),
        ("settings: 3", "settings: must be a section of keys and values"),
        ("settings: {1: 2}", "settings.1.[key]: must be text"),
        ("settings: {nope: 2}", "nope: unknown key"),
        ("settings: {max_steps: soon}", "max_steps: must be a whole number"),
        ("settings: {benchmark_settings: {split: [1]}}", "benchmark_settings.split: must be text"),
        ("settings: {}\nname: [1]", "name: must be text"),
        ("settings: {}\ndescription: !!set {a}", "description: must be text"),
        ("{a: " * 5000 + "1" + "}" * 5000, "nested too deeply"),
        ("note: " + "x" * 2_000_001, "more than 2,000,000 characters"),
        ("a: &a [*a]", "alias"),
        ("settings: {}\nscores: {}", "scores: unknown key; there are: name, description"),
        ("settings: {}\npublished: [{source: a}]", "published.0.setting: is missing"),
        ("settings: {}\npublished: [{sorce: a}]", "published.0.sorce: unknown key"),
        ("settings: {}\npublished: [3]", "published.0: must be a section of keys and values"),
        ("settings: {}\nneeds: prompt", "needs: must be a section of keys and values"),
        ("settings: [", "is not YAML"),
    ],
)
def test_a_mistake_in_it_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_config(None, [f"protocol={file}"])
    assert str(file) in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "settings", [{f"k{n}": n for n in range(1000)}, {"seed": "x" * 1_000_000}, {"k" * 1000: 1}]
)
def test_a_mistake_is_told_in_a_few_lines(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(settings=settings)
    assert len(str(error.value)) < 20_000


def test_a_name_that_no_file_has_is_refused() -> None:
    with pytest.raises(ConfigError, match="cannot be the name of a file"):
        protocol("a\0.yaml")


def test_a_configuration_that_never_ends_is_refused() -> None:
    with pytest.raises(ConfigError, match="more than 2,000,000 characters"):
        load_config(Path("/dev/zero"), [])


def test_an_unknown_protocol_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'seen-140'"):
        load_config(None, ["protocol=seen-141"])


@pytest.mark.parametrize(
    "content",
    [
        f"api_key: {KEY}: oops\n",
        f"llm: [{{api_key: {KEY}}}]\n",
        f"llm:\n  model: m\n  api_key: [{KEY}]\n",
        f"llm:\n  model: m\n  api_key: {KEY}\n  api_key_env: B\n",
        f"llm:\n  model: 5\n  api_key: {KEY}\n  temperature: 9\n",
        f"llm:\n  model: m\n  api_keys: {KEY}\n",
        f"api_key: {KEY}\nAPI_KEY: {KEY}\nmodel: m\n",
        f"model: m\nbase_url: https://user:{KEY}@host/v1\n",
        f"model: m\napi_key: '{KEY}\n",
    ],
)
def test_a_key_is_in_no_error(content: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(written(tmp_path, content))
    assert KEY not in str(error.value)
    assert error.value.__cause__ is None


def test_a_key_that_looks_like_a_number_is_in_no_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"llm\.api_key: must be text$"):
        load_config(written(tmp_path, "model: m\napi_key: 8675309867530986753\n"))


@pytest.mark.parametrize("override", [f"api_key:{KEY}", f"api_key=[{KEY}", f"llm.api_key={{{KEY}"])
def test_a_key_is_in_no_error_about_an_override(override: str) -> None:
    with pytest.raises(ConfigError) as error:
        load_config(None, ["model=m", override])
    assert KEY not in str(error.value)


def test_a_key_is_in_nothing_that_is_written(tmp_path: Path) -> None:
    config, _ = load_config(None, ["model=m", f"api_key={KEY}"])
    assert config.llm is not None
    assert at(config, "llm.api_key") == KEY
    for shown in (config.to_yaml(), repr(config), str(config.model_dump()), str(config.deciding())):
        assert KEY not in shown
    assert KEY not in config.model_dump_json()


def test_the_resolved_configuration_loads_to_itself(tmp_path: Path) -> None:
    config, _ = load_config(
        None,
        [
            "protocol=unseen-134-two-shot",
            "model=m",
            "temperature=0",
            "llm.stop=[a, b]",
            "parallel=3",
        ],
    )
    assert load_config(written(tmp_path, config.to_yaml()))[0] == config
