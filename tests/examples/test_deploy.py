"""The examples of deploying are what systemd, Kubernetes and the scurry command understand."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from scurry.common._config.validation import validate

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"


def service() -> dict[str, str]:
    """The unit's settings; lines that end with a backslash go on."""
    text = (DEPLOY / "scurry.service").read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def manifest(kind: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    (found,) = [document for document in documents if document["kind"] == kind]
    return found  # type: ignore[no-any-return]


def driver() -> dict[str, Any]:
    (container,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return container  # type: ignore[no-any-return]


@pytest.mark.parametrize("command", [shlex.split(service()["ExecStart"]), driver()["command"]], ids=["systemd", "k8s"])
def test_the_job_is_configured_with_keys_there_are_and_has_a_directory_of_checkpoints(command: list[str]) -> None:
    configuration = dict(
        value.split("=", 1) for option, value in zip(command, command[1:], strict=False) if option == "-D"
    )
    validate(configuration)
    assert "execution.checkpointing.dir" in configuration


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_finds_no_fault_with_the_unit(tmp_path: Path) -> None:
    text = (DEPLOY / "scurry.service").read_text()
    program = tmp_path / "scurry"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / "scurry.service"
    unit.write_text(text.replace("/srv/flights/.venv/bin/scurry", str(program)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    found = [line for line in done.stderr.splitlines() if "scurry.service" in line]
    assert found == []


def test_the_unit_comes_back_after_failures_and_stops_by_interrupt() -> None:
    unit = service()
    assert (unit["Restart"], unit["KillSignal"], unit["StartLimitIntervalSec"]) == ("on-failure", "SIGINT", "0")


def test_the_deployment_never_runs_two_drivers_and_its_parts_fit_together() -> None:
    spec = manifest("Deployment")["spec"]
    pod = spec["template"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
    assert spec["selector"]["matchLabels"] == pod["metadata"]["labels"] == manifest("Service")["spec"]["selector"]
    account = manifest("ServiceAccount")["metadata"]["name"]
    assert pod["spec"]["serviceAccountName"] == account == manifest("RoleBinding")["subjects"][0]["name"]
    ports = {str(port["port"]) for port in manifest("Service")["spec"]["ports"]}
    assert ports == {value.split("=")[1] for value in driver()["command"] if ".port=" in value.lower()}
