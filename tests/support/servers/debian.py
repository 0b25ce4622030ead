"""Programs of Debian's packages: those that are installed; installed first where the machine belongs to the tests."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

from _pytest.outcomes import Skipped

#: CI sets it: its machines are thrown away. Nobody else gets packages installed by a test.
INSTALLS = "SCURRY_INSTALL_SERVERS"
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
_NO_SERVICES = Path("/usr/sbin/policy-rc.d")


class Unavailable(Skipped):
    """The server is not on this machine; the text is why the test that needs it is skipped."""


def program(name: str, package: str) -> Path:
    """Return the path of a program.

    Args:
        name: Of the program, as `redis-server`.
        package: Debian's package that has it.

    Raises:
        Unavailable: It is not installed, and cannot or must not be.
    """
    found = shutil.which(name, path=_PATH)
    if found is None and os.environ.get(INSTALLS):
        _install(package)
        found = shutil.which(name, path=_PATH)
    if found is None:
        raise Unavailable(f"{name} is not installed: apt-get install {package}, or set {INSTALLS}=1 to let tests do it")
    return Path(found)


def _install(package: str) -> None:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is not installed, and only root of a Debian machine can install it")
    with open("/tmp/scurry-apt.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        quiet = not _NO_SERVICES.exists()
        if quiet:  # packages start their services otherwise
            _NO_SERVICES.write_text("#!/bin/sh\nexit 101\n")
            _NO_SERVICES.chmod(0o755)
        try:
            done = _apt("install", package)
            if done.returncode:
                _apt("update")
                done = _apt("install", package)
        finally:
            if quiet:
                _NO_SERVICES.unlink()
    if done.returncode:
        raise Unavailable(f"{package} cannot be installed: {done.stderr.strip()[-500:]}")


def _apt(command: str, *packages: str) -> subprocess.CompletedProcess[str]:
    options = ["-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"]
    return subprocess.run(
        ["apt-get", command, *options, *packages],
        capture_output=True,
        text=True,
        env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
    )
