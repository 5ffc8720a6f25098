"""The files for AgentBeats say what the programs do."""

import asyncio
import json
import re
import shlex
import subprocess
import sys

import httpx
import pytest
from agent_processes import ROOT, agentquest, clean_environment
from environments import environment

from agentquest.a2a.client.cards import read_card
from agentquest.a2a.config import AssessmentConfig
from agentquest.a2a.requests import parse_request
from agentquest.metrics.statistics import estimate_mean

FOLDER = ROOT / "agentbeats"


def json5(name):
    """JSON with comments, which is all of JSON5 that our files use."""
    lines = (FOLDER / name).read_text().splitlines()
    return json.loads("\n".join(re.sub(r"(^|,|\s)\s*//.*$", r"\1", line) for line in lines))


@pytest.fixture(scope="module")
def manifest():
    return json5("amber-manifest.json5")


@pytest.fixture(scope="module")
def scenario():
    return json5("scenario.json5")


def test_the_manifests_request_is_one_we_take(manifest, scenario):
    config = manifest["metadata"]["assessment_config"]
    (role,) = manifest["metadata"]["participant_roles"]
    assert scenario["components"]["gateway"]["config"]["assessment_config"] == config
    patched = {**config, "shard_index": 19, "num_shards": 20, "num_instances": 40}
    for given in (config, patched):
        request = parse_request(json.dumps({"participants": {role: "http://p/"}, "config": given}))
        assert request.warnings == ()
        assert (request.config.split, request.config.max_steps) == ("valid_unseen", 50)


def test_the_scenario_binds_what_its_parts_provide(manifest, scenario):
    agent = json5("agent-manifest.json5")
    parts = {"#green": manifest, "#agent": agent}
    for binding in scenario["bindings"]:
        component, _, name = binding["from"].partition(".")
        if component in parts:
            assert name in parts[component]["exports"]
        component, _, slot = binding["to"].partition(".")
        if component in parts:
            assert slot in parts[component]["slots"]
    roles = scenario["components"]["gateway"]["config"]["participant_roles"]
    assert roles["purple1"] == manifest["metadata"]["participant_roles"][0]
    given = scenario["components"]["agent"]["config"]
    assert set(agent["config_schema"]["required"]) <= set(given)
    for name in ("green", "agent"):
        assert (FOLDER / scenario["components"][name]["manifest"]).exists()


@pytest.mark.parametrize("name", ["amber-manifest.json5", "agent-manifest.json5"])
def test_the_manifests_commands_and_variables_exist(name):
    program = json5(name)["program"]
    _, command, *options = shlex.split(program["entrypoint"])
    done = subprocess.run(
        [sys.executable, "-m", "agentquest", command, "--help"],
        capture_output=True,
        text=True,
        env={**clean_environment(), "COLUMNS": "200"},
        timeout=60,
    )
    assert all(option in done.stdout for option in options if option.startswith("--"))
    ours = [key for key in program["env"] if key.startswith(("AGENTQUEST", "GATEWAY"))]
    assert all(variable in done.stdout for variable in ours)


SUBMISSIONS = [
    # All shards there; one game of the second has no score.
    ("whole", [(67, 67, 30, 0, 2), (67, 67, 20, 5, 2)]),
    ("owed", [(67, 67, 60, 0, 2), (67, 66, 60, 1, 2)]),
    ("half", [(67, 67, 67, 0, 2)]),
    ("twice", [(67, 67, 67, 0, 1), (67, 67, 67, 0, 1)]),
    ("few", [(5, 5, 5, 0, 1)]),
    # Not comparable: other data, protocol or step limit, if only in one shard.
    ("builtin", [(67, 67, 67, 0, 2), (67, 67, 67, 0, 2, {"data": "builtin"})]),
    ("longer", [(134, 134, 134, 0, 1, {"max_steps": 100.0})]),
    ("own", [(134, 134, 134, 0, 1, {"protocol": None})]),
    ("perfect", [(134, 134, 134, 0, 1)]),
]


def test_the_leaderboard_lists_whole_submissions_only(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name, shards in SUBMISSIONS:
        content = [
            {
                "requested_games": float(requested),
                "num_games": float(scored),
                "wins": float(wins),
                "errors": float(errors),
                "overall_score": 80.0,
                "avg_steps": 10.0,
                "shard_index": float(index % count),
                "num_shards": float(count),
                "data": "real",
                "protocol": "unseen-134",
                "max_steps": 50.0,
                **dict(*other),
            }
            for index, (requested, scored, wins, errors, count, *other) in enumerate(shards)
        ]
        submission = {"status": "completed", "participants": {"agent": name}, "results": content}
        (folder / f"{name}.json").write_text(json.dumps(submission))
    program = (
        "import duckdb, json, sys\n"
        "duckdb.sql(\"CREATE VIEW results AS FROM read_json_auto('results/*.json')\")\n"
        "print(json.dumps(duckdb.sql(open(sys.argv[1]).read()).fetchall()))"
    )
    done = subprocess.run(
        [environment("duckdb"), "-c", program, str(FOLDER / "leaderboard.sql")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    intervals = {wins: estimate_mean([1.0] * wins + [0.0] * (134 - wins)) for wins in (50, 134)}
    for row, found in zip(rows, (intervals[134], intervals[50]), strict=True):
        shown = [round(100 * value, 1) for value in (found.value, found.low, found.high)]
        assert row[1:4] == shown
        del row[1:4]
    assert rows == [
        ["perfect", 80.0, 10.0, 134, 0, "real", "unseen-134", 50],
        ["whole", 80.0, 10.0, 134, 5, "real", "unseen-134", 50],
    ]


def test_the_port_is_the_same_everywhere(manifest):
    (endpoint,) = manifest["program"]["network"]["endpoints"]
    assert f"--port {endpoint['port']}" in manifest["program"]["entrypoint"]
    assert endpoint["name"] == manifest["provides"]["a2a"]["endpoint"]
    docker = (FOLDER / "Dockerfile").read_text()
    assert f"EXPOSE {endpoint['port']}" in docker
    assert f'"--port", "{endpoint["port"]}"' in docker


def toml(name):
    """The few kinds of lines the scenario has; Python 3.10 has no TOML reader."""
    sections, current = {}, {}
    for line in (FOLDER / name).read_text().splitlines():
        if line.startswith("["):
            current = sections.setdefault(line.strip("[]"), {})
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            current[key.strip()] = json.loads(value)
    return sections


def test_the_scenarios_commands_exist_and_its_request_is_one_we_take():
    scenario = toml("scenario.toml")
    config = AssessmentConfig.model_validate(scenario["config"])
    assert set(scenario["config"]) <= set(AssessmentConfig.model_fields)
    assert config.num_games == 6
    for part, port in (("green_agent", 9001), ("participants", 9002)):
        program, command, *options = shlex.split(scenario[part]["cmd"])
        assert program == "agentquest"
        assert str(port) in options
        assert scenario[part]["endpoint"].endswith(str(port))
        done = subprocess.run(
            [sys.executable, "-m", "agentquest", command, "--help"],
            capture_output=True,
            text=True,
            env=clean_environment(),
            timeout=60,
        )
        named = [option for option in options if option.startswith("--")]
        assert all(option in done.stdout for option in named)


async def fetched(url):
    async with httpx.AsyncClient() as http:
        return (await http.get(f"{url}.well-known/agent-card.json")).json()


def test_the_card_names_the_url_it_was_given(tmp_path):
    options = ["--port", "0", "--host", "127.0.0.1", "--log-dir", str(tmp_path)]
    with agentquest("green", *options, "--card-url", "http://green.example:80/") as process:
        content = asyncio.run(fetched(f"http://127.0.0.1:{process.port}/"))
    interfaces = read_card(content).interfaces
    assert {interface.url for interface in interfaces} == {"http://green.example:80/"}
    assert [interface.version for interface in interfaces] == ["1.0", "0.3"]


@pytest.mark.parametrize("name", ["serve-a2a", "run"])
def test_the_environment_names_the_role_that_is_served(name):
    with agentquest(name, ROLE="green", HOST="127.0.0.1", AGENT_PORT="0") as process:
        assert any("green agent at" in line for line in process.lines)
    done = subprocess.run(
        [sys.executable, "-m", "agentquest", name],
        capture_output=True,
        text=True,
        env={**clean_environment(), "ROLE": "blue"},
        timeout=60,
    )
    assert done.returncode == 2
    assert "ROLE must be green or white" in done.stderr


def test_info_lists_the_task_types():
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), "info"],
        capture_output=True,
        text=True,
        env=clean_environment(),
        timeout=60,
    )
    assert done.returncode == 0
    assert "6: pick_two_obj_and_place" in done.stdout
