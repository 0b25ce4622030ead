"""What is published works without the repository, and without Java."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
FIRST_RESULT = Path(__file__).with_name("first_result.py")
KAFKA_TUTORIAL = Path(__file__).with_name("kafka_tutorial.py")

pytestmark = pytest.mark.nightly


def run(*command: object, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd="/", capture_output=True, text=True, timeout=900, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def processor_seconds() -> float:
    """Seconds of work of all processes that have ended: how long downloads take is up to the network."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", directory, PROJECT)
    (built,) = directory.glob("scurry-*.whl")
    return built


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a machine without Java, and without anything of this project."""
    directory = tmp_path_factory.mktemp("machine")
    home, tools = directory / "home", directory / "tools"
    home.mkdir()
    tools.mkdir()
    for binaries in ("/bin", "/usr/bin"):
        for tool in Path(binaries).iterdir():
            if tool.name != "java" and not (tools / tool.name).is_symlink():
                (tools / tool.name).symlink_to(tool)
    settings = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_", "REQUESTS_"))}
    return settings | {"HOME": str(home), "PATH": str(tools), "XDG_CACHE_HOME": str(home / "cache")}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty virtual environment."""
    directory = tmp_path_factory.mktemp("environment") / "venv"
    venv.create(directory, with_pip=True)
    return directory


def interpreter(version: str) -> str:
    """Another Python of this machine; skips the test if there is none."""
    installed = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    for python in [f"python{version}", *map(str, installed.glob(f"{version}.*/bin/python"))]:
        try:
            if subprocess.run([python, "-c", "import venv"], capture_output=True).returncode == 0:
                return python
        except FileNotFoundError:
            continue
    pytest.skip(f"no Python {version} on this machine")


def install(wheel: Path, environment: Path, machine: dict[str, str], extras: str = "") -> None:
    run(environment / "bin" / "python", "-m", "pip", "install", "--quiet", f"{wheel}{extras}", environment=machine)


def test_from_pip_install_to_the_first_result_on_spark_is_less_than_two_minutes_of_work(
    wheel: Path, machine: dict[str, str], environment: Path
) -> None:
    started = processor_seconds()
    install(wheel, environment, machine)
    installed = processor_seconds()
    told = run(sys.executable, FIRST_RESULT, environment, environment=machine)
    print(f"work until installed {installed - started:.0f} s, until both results {processor_seconds() - started:.0f} s")
    print(told)
    assert processor_seconds() - started < 120
    assert "jobs can run" in run(environment / "bin" / "scurry", "doctor", environment=machine)


@pytest.mark.parametrize("version", ["3.12", "3.13", "3.14"])
def test_the_first_program_runs_on_the_other_pythons_of_the_machine(
    version: str, wheel: Path, machine: dict[str, str], tmp_path: Path
) -> None:
    run(interpreter(version), "-m", "venv", tmp_path / "venv")
    install(wheel, tmp_path / "venv", machine)
    run(sys.executable, FIRST_RESULT, tmp_path / "venv", environment=machine)


def test_the_kafka_tutorial_needs_nothing_but_the_wheel(
    wheel: Path, machine: dict[str, str], environment: Path
) -> None:
    install(wheel, environment, machine, "[kafka]")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run(sys.executable, KAFKA_TUTORIAL, environment, port, environment=machine)


def test_the_wheel_holds_the_package_only(wheel: Path, tmp_path: Path) -> None:
    names = run(sys.executable, "-m", "zipfile", "-l", wheel)
    assert "scurry/py.typed" in names
    assert "tests/" not in names


def test_the_source_distribution_is_complete(tmp_path: Path) -> None:
    build = "import sys, hatchling.build as b; print(b.build_sdist(sys.argv[1]))"
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "hatchling")
    subprocess.run([python, "-c", build, tmp_path], cwd=PROJECT, check=True, capture_output=True)
    (archive,) = tmp_path.glob("scurry-*.tar.gz")
    with tarfile.open(archive) as content:
        inside = {name.partition("/")[2] for name in content.getnames()}
    tracked = subprocess.run(["git", "ls-files"], cwd=PROJECT, capture_output=True, text=True, check=True)
    wanted = {name for name in tracked.stdout.splitlines() if not name.startswith((".", "bench/"))}
    assert wanted - inside == set()
