"""Reading a file of episodes that grows: every line once, and no half one."""

from pathlib import Path

from test_episode_records import a_record

from agentquest.records.episode_lines import EpisodeReader, sealed


def line(key: str) -> bytes:
    return sealed(a_record(key))


def test_each_line_is_given_once_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    reader = EpisodeReader(file)
    assert list(reader.further()) == []
    first, second = line("a#0"), line("b#0")
    file.write_bytes(first + second[:50])
    assert [record.key for record in reader.further()] == ["a#0"]
    assert list(reader.further()) == []
    with file.open("ab") as growing:
        growing.write(second[50:])
    assert [record.key for record in reader.further()] == ["b#0"]


def test_a_line_torn_and_cut_off_in_between_is_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(line("a#0") + b'{"half')
    reader = EpisodeReader(file)
    assert len(list(reader.further())) == 1
    file.write_bytes(line("a#0") + line("b#0"))
    assert [record.key for record in reader.further()] == ["b#0"]


def test_a_damaged_line_is_passed_over_and_told_of(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(line("a#0"))
    reader = EpisodeReader(file)
    list(reader.further())
    with file.open("ab") as growing:
        growing.write(line("b#0") + b"nonsense\n")
    assert [record.key for record in reader.further()] == ["b#0"]
    assert reader.damaged == [3]
