"""Prompt templates: sections, names, and errors that say which file and what is wrong."""

from pathlib import Path

import pytest

from agentquest.agents.react import PromptTemplate
from agentquest.agents.template_file import load_template
from agentquest.errors import ConfigError

MINE = """[system]
Rules: $instructions$examples
[examples]
Look: $demonstrations
[user]
$goal / $help / $history costs $$5
"""


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(MINE, encoding="utf-8")
    template = load_template(PromptTemplate, file)
    assert template.system("R", "D") == "Rules: RLook: D"
    assert template.system("R", "") == "Rules: R"
    assert template.user("G", "H", "O") == "G / H / O costs $5"


def test_examples_appear_only_where_there_are_some() -> None:
    template = PromptTemplate(MINE, "mine")
    assert "Look:" not in template.system("R", "")
    assert "Look: D" in template.system("R", "D")


def test_values_are_not_read_as_templates() -> None:
    template = PromptTemplate(MINE, "mine")
    assert template.user("$help ${goal} $$", "H", "O") == "$help ${goal} $$ / H / O costs $5"
    assert "$instructions" in template.system("R", "$instructions")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "contain [user]"),
        ("[system]\nhello", "contain [user]"),
        ("hello\n[user]\n$goal", "start with [system]"),
        ("[user]\n$gaol", "[user] knows $check, $goal, $help, $history, not $gaol"),
        ("[system]\n$goal\n[user]\n", "[system] knows $examples, $instructions, not $goal"),
        ("[user]\nfor 5$ only", "[user]: Invalid placeholder"),
    ],
)
def test_a_mistake_is_named(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as error:
        PromptTemplate(text, "mine.txt")
    assert str(error.value).startswith("mine.txt: ")
    assert said in str(error.value)


def test_a_section_given_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"\[user\] is given twice"):
        PromptTemplate("[user]\n$goal\n[user]\n$history", "mine.txt")


def test_windows_line_ends_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_bytes(MINE.replace("\n", "\r\n").encode())
    assert load_template(PromptTemplate, file).user("G", "H", "O").startswith("G / H / O")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"agent\.prompt_file: cannot read .*none\.txt"):
        load_template(PromptTemplate, tmp_path / "none.txt")
    binary = tmp_path / "binary.txt"
    binary.write_bytes(b"[user]\n\xff")
    with pytest.raises(ConfigError, match=r"agent\.prompt_file: cannot read .*binary\.txt"):
        load_template(PromptTemplate, binary)
