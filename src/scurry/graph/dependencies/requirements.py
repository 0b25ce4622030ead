"""Read a requirements.txt, check it against an interpreter, and build virtual environments for it."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from scurry.common._config.python import PYTHON_EXECUTABLE, PYTHON_REQUIREMENTS
from scurry.common._process.directories import cache_directory
from scurry.common._process.file_locks import lock as lock_file
from scurry.errors import ConfigError, DependencyError

_INDEX_OPTIONS = (
    *"-i --index-url --extra-index-url --trusted-host".split(),
    *"--pre --prefer-binary --no-binary --only-binary --require-hashes".split(),
)
_COMPLETE = ".complete"
_GIVE_UP_SECONDS = 1800


def read_requirements(path: Path) -> list[Requirement]:
    """Return the requirements in a requirements.txt whose markers hold for this interpreter.

    Raises:
        ConfigError: It refers to other files, which workers would not have, or has a line that is not a requirement.
    """
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines(), 1):
        text = line.partition(" #")[0].partition(" --hash")[0].strip()
        if not text or text.startswith(("#", *_INDEX_OPTIONS)):
            continue
        try:
            requirement = Requirement(text)
        except InvalidRequirement as error:
            raise ConfigError(
                f"{PYTHON_REQUIREMENTS.key}: {path}:{number}: {text!r} is no requirement that workers could install; "
                "list all packages in this one file, local ones in the directory of packages"
            ) from error
        if requirement.marker is None or requirement.marker.evaluate():
            found.append(requirement)
    return found


def unsatisfied(requirements: list[Requirement]) -> list[str]:
    """Return the requirements that this interpreter's packages do not meet, with the versions it has."""
    missing = []
    for requirement in requirements:
        try:
            version = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            missing.append(str(requirement))
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            missing.append(f"{requirement} (there is {version})")
    return missing


def require_here(path: Path) -> None:
    """Check that this interpreter meets a requirements.txt.

    Raises:
        DependencyError: It does not; the message says what to install.
    """
    missing = unsatisfied(read_requirements(path))
    if missing:
        raise DependencyError(
            f"{PYTHON_REQUIREMENTS.key}: the in-process runner has the packages of this Python only, which lacks "
            f"{', '.join(missing)}: {sys.executable} -m pip install -r {path}"
        )


def environment(requirements: Path, packages: Path | None, digest: str) -> Path:
    """Return the packages directory of a virtual environment that meets the requirements; build it if it is missing.

    It is in scurry's cache directory, named by the requirements and the interpreter. The interpreter's own packages are
    used unless another version is required.

    Args:
        requirements: The requirements.txt.
        packages: Directory to install from, without any index; None for the index that pip is configured with.

    Raises:
        DependencyError: pip failed.
    """
    python = hashlib.sha256(f"{sys.executable} {sys.version} {sysconfig.get_platform()}".encode()).hexdigest()[:8]
    directory = cache_directory() / "environments" / f"{digest}-{python}"
    directory.mkdir(parents=True, exist_ok=True)
    site_packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(directory)}))
    with open(directory.with_suffix(".lock"), "w") as lock:
        lock_file(lock, wait=True)
        if not (directory / _COMPLETE).exists():
            shutil.rmtree(directory, ignore_errors=True)
            _build(directory, site_packages, requirements, packages)
            (directory / _COMPLETE).touch()
    return site_packages


def _build(directory: Path, site_packages: Path, requirements: Path, packages: Path | None) -> None:
    import venv  # a browser has none

    venv.EnvBuilder(symlinks=True).create(directory)
    # the interpreter's own packages, which pip then does not install again
    inherited = {path for path in sys.path if "site-packages" in path or "dist-packages" in path}
    (site_packages / "scurry-inherited.pth").write_text("".join(f"{path}\n" for path in sorted(inherited)))
    offline = ["--no-index", "--find-links", str(packages)] if packages is not None else []
    options = ["--disable-pip-version-check", "--no-input", "--no-warn-conflicts", "--quiet", *offline]
    python = str(directory / "bin" / "python")
    command = [python, *pip_arguments(), "install", *options, "--requirement", str(requirements)]
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONHOME", "PYTHONPATH")}
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=_GIVE_UP_SECONDS)
    if done.returncode:
        errors = [line.removeprefix("ERROR: ") for line in done.stderr.splitlines() if line.strip()]
        relevant = [line for line in errors if not line.startswith(("WARNING", "[notice]"))] or ["pip failed"]
        where = f" from {packages.name}" if packages is not None else ""
        raise DependencyError(
            f"{PYTHON_REQUIREMENTS.key}: {sys.executable} cannot install {requirements.name}{where}: "
            + "; ".join(relevant[-3:])
        )


def pip_arguments() -> list[str]:
    """Return the arguments of Python that call pip: that of this environment, else the one that CPython bundles.

    Environments that uv makes have none.
    """
    if importlib.util.find_spec("pip") is None and (wheel := _pip_wheel()) is not None:
        return [str(wheel / "pip")]
    return ["-m", "pip"]


def _pip_wheel() -> Path | None:
    """Return the wheel of pip that CPython has for new virtual environments, or None."""
    try:
        import ensurepip
    except ImportError:
        return None
    directories = [Path(ensurepip.__file__).parent / "_bundled"]
    if elsewhere := sysconfig.get_config_var("WHEEL_PKG_DIR"):  # on Debian, for instance
        directories.append(Path(elsewhere))
    return next((wheel for directory in directories for wheel in sorted(directory.glob("pip-*.whl"))), None)


def refuse_loaded(site_packages: Path) -> None:
    """Check that this process has not imported a package of an environment in another version.

    Raises:
        DependencyError: It has; the message names both versions.
    """
    for distribution in importlib.metadata.distributions(path=[str(site_packages)]):
        if not _of_environment(distribution, site_packages):
            continue
        for module in _modules(distribution):
            file = getattr(sys.modules.get(module), "__file__", None)
            if file is not None and not Path(file).is_relative_to(site_packages):
                name = distribution.metadata["Name"]
                raise DependencyError(
                    f"{PYTHON_REQUIREMENTS.key} asks for {name} {distribution.version}, but workers have loaded "
                    f"{name} {_version(name)} of {sys.executable} already: require that, or set "
                    f"{PYTHON_EXECUTABLE.key} to a Python that has {name} {distribution.version}"
                )


def _of_environment(distribution: importlib.metadata.Distribution, site_packages: Path) -> bool:
    return Path(str(distribution.locate_file(""))).resolve() == site_packages.resolve()


def _modules(distribution: importlib.metadata.Distribution) -> Iterator[str]:
    for file in distribution.files or ():
        if file.suffix == ".py" and ".dist-info" not in file.parts[0]:
            yield file.parts[0].removesuffix(".py")


def _version(name: str) -> str:
    wanted = canonicalize_name(name)
    there = importlib.metadata.distributions()
    return next((d.version for d in there if canonicalize_name(d.metadata["Name"]) == wanted), "of unknown version")
