"""The files for AgentBeats say what the programs do."""

import json
import re
import shlex
import subprocess
import sys

import pytest
from agent_processes import ROOT, agentquest, clean_environment

from agentquest.a2a_agents.requests import AssessmentConfig, parse_request

FOLDER = ROOT / "agentbeats"


@pytest.fixture(scope="module")
def manifest():
    text = (FOLDER / "amber-manifest.json5").read_text()
    return json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))


def test_the_manifests_request_is_one_we_take(manifest):
    config = manifest["metadata"]["assessment_config"]
    (role,) = manifest["metadata"]["participant_roles"]
    patched = {**config, "shard_index": 19, "num_shards": 20, "num_instances": 40}
    for given in (config, patched):
        request = parse_request(json.dumps({"participants": {role: "http://p/"}, "config": given}))
        assert request.warnings == ()
        assert request.config.num_games == 134


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


def test_the_card_names_the_url_it_was_given(tmp_path):
    import asyncio

    from agentquest.a2a_agents.launcher import _card

    options = ["--port", "0", "--host", "127.0.0.1", "--log-dir", str(tmp_path)]
    with agentquest("green", *options, "--card-url", "http://green.example:80/") as process:
        card = asyncio.run(_card(f"http://127.0.0.1:{process.port}/"))
    assert {interface.url for interface in card.supported_interfaces} == {
        "http://green.example:80/"
    }
    assert {interface.protocol_version for interface in card.supported_interfaces} == {"1.0", "0.3"}


def test_run_serves_the_role_that_the_environment_names():
    with agentquest("run", ROLE="green", HOST="127.0.0.1", AGENT_PORT="0") as process:
        assert any("green agent at" in line for line in process.lines)
    done = subprocess.run(
        [sys.executable, "-m", "agentquest", "run"],
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
    assert "6  pick_two_obj_and_place" in done.stdout
