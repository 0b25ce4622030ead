"""The examples of deploying are what systemd, Kubernetes and the scurry command understand."""

from __future__ import annotations

import inspect
import json
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from scurry.common._config.validation import validate
from scurry.spark.session import pod
from scurry.testing import kafka

DEPLOY = Path(__file__).parents[2] / "examples" / "deploy"


def service(name: str = "scurry.service") -> dict[str, str]:
    """The unit's settings; lines that end with a backslash go on."""
    text = (DEPLOY / name).read_text().replace("\\\n", "")
    lines = [line for line in text.splitlines() if "=" in line and not line.startswith("#")]
    return {key: value for key, _, value in (line.partition("=") for line in lines)}


def manifest(kind: str) -> dict[str, Any]:
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text())
    (found,) = [document for document in documents if document["kind"] == kind]
    return found  # type: ignore[no-any-return]


def driver() -> dict[str, Any]:
    (container,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return container  # type: ignore[no-any-return]


def application() -> dict[str, Any]:
    """What the Spark operator is told."""
    return yaml.safe_load((DEPLOY / "spark-operator.yaml").read_text())["spec"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "command",
    [shlex.split(service()["ExecStart"]), driver()["command"], application()["driverArgs"]],
    ids=["systemd", "k8s", "operator"],
)
def test_the_job_is_configured_with_keys_there_are_and_has_a_directory_of_checkpoints(command: list[str]) -> None:
    configuration = dict(
        value.split("=", 1) for option, value in zip(command, command[1:], strict=False) if option == "-D"
    )
    validate(configuration)
    assert "execution.checkpointing.dir" in configuration


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("name", ["scurry.service", "scurry-session.service"])
def test_systemd_finds_no_fault_with_the_unit(tmp_path: Path, name: str) -> None:
    program = tmp_path / "scurry"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = tmp_path / name
    unit.write_text((DEPLOY / name).read_text().replace(shlex.split(service(name)["ExecStart"])[0], str(program)))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    found = [line for line in done.stderr.splitlines() if name in line]
    assert found == []


@pytest.mark.parametrize(
    ("name", "signal"), [("scurry.service", "SIGINT"), ("scurry-session.service", "SIGTERM")], ids=["job", "session"]
)
def test_the_unit_comes_back_after_failures_and_stops_by_a_signal(name: str, signal: str) -> None:
    unit = service(name)
    assert (unit["Restart"], unit["KillSignal"], unit["StartLimitIntervalSec"]) == ("on-failure", signal, "0")


def test_kubernetes_has_every_field_of_the_manifest() -> None:
    schemas: Any = pytest.importorskip("kubernetes_validate")
    for document in yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text()):
        schemas.validate(document, schemas.latest_version(), strict=True)


def test_the_operator_starts_the_same_job_with_the_same_image_again_where_it_fails() -> None:
    found, command = application(), driver()["command"]
    assert found["driverArgs"][-1] == command[-1]
    assert found["driverArgs"][2] == command[command.index("--master") + 1]
    assert found["sparkConf"]["spark.kubernetes.container.image"] == driver()["image"]
    assert found["pyFiles"].endswith("/driver.py") and (DEPLOY / "driver.py").exists()
    assert found["applicationTolerations"]["restartConfig"]["restartPolicy"] == "OnFailure"


def test_the_broker_of_the_tutorial_has_settings_of_the_one_for_tests() -> None:
    """The tutorial is tested with the latter; a container of Kafka is told its settings by variables."""
    (broker,) = yaml.safe_load((DEPLOY / "kafka-compose.yaml").read_text())["services"].values()
    settings = {name.removeprefix("KAFKA_").lower().replace("_", "."): value
                for name, value in broker["environment"].items()}  # fmt: skip
    for_tests = inspect.getsource(kafka)
    assert all(f"{name}=" in for_tests for name in settings.keys() - {"advertised.listeners"})
    copies = {name: value for name, value in settings.items() if "replication" in name or name.endswith(".isr")}
    assert len(copies) == 3 and all(f"\n{name}={value}\n" in for_tests for name, value in copies.items())
    assert broker["ports"] == ["9092:9092"]
    assert settings["advertised.listeners"].endswith("//localhost:9092")


def test_the_image_starts_what_spark_asks_for_in_its_pods() -> None:
    lines = (DEPLOY.parents[1] / "Dockerfile").read_text().splitlines()
    (entry,) = [json.loads(line.removeprefix("ENTRYPOINT ")) for line in lines if line.startswith("ENTRYPOINT ")]
    assert entry == ["tini", "--", "python", "-m", pod.__name__]


def test_the_deployment_never_runs_two_drivers_and_its_parts_fit_together() -> None:
    spec = manifest("Deployment")["spec"]
    pod = spec["template"]
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")
    assert spec["selector"]["matchLabels"] == pod["metadata"]["labels"] == manifest("Service")["spec"]["selector"]
    account = manifest("ServiceAccount")["metadata"]["name"]
    assert pod["spec"]["serviceAccountName"] == account == manifest("RoleBinding")["subjects"][0]["name"]
    ports = {str(port["port"]) for port in manifest("Service")["spec"]["ports"]}
    assert ports == {value.split("=")[1] for value in driver()["command"] if ".port=" in value.lower()}
