"""A real schema registry for tests and for trying things out: Apicurio on loopback, with Confluent's API.

    python tools/apicurio.py            # runs a registry until interrupted, and prints its address
    python tools/apicurio.py --fetch    # only fills the cache

The program, 109 MB from Maven Central, is kept in ~/.cache/scurry; schemas are kept in memory. A Java 17 is needed.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from pathlib import Path

VERSION = "3.0.9"
SHA256 = "2b28181501a20cbf6efcd77f9b7153908fc01f3d3a7c32024c0bd9e1b04c8a43"
CENTRAL = os.environ.get("SCURRY_MAVEN", "https://repo1.maven.org/maven2")
ARCHIVE = f"io/apicurio/apicurio-registry-app/{VERSION}/apicurio-registry-app-{VERSION}-all.tar.gz"
START_SECONDS = 120


def cache() -> Path:
    """Where the program is kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return root / "scurry" / f"apicurio-{VERSION}"


def fetch() -> Path:
    """Downloads the program, checks and unpacks it, if it is not there yet; returns its directory.

    Raises:
        OSError: Maven Central cannot be reached.
        ValueError: The archive is not the one that is expected.
    """
    directory = cache()
    if directory.exists():
        return directory
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent) as partial:
        archive = Path(partial, "archive.tar.gz")
        with urllib.request.urlopen(f"{CENTRAL}/{ARCHIVE}", timeout=60) as answer, archive.open("wb") as file:
            shutil.copyfileobj(answer, file)
        with archive.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
                raise ValueError(f"{CENTRAL}/{ARCHIVE} is not the archive that tools/apicurio.py names")
        unpacked = Path(partial, "unpacked")
        with tarfile.open(archive) as packed:
            packed.extractall(unpacked, filter="data")
        try:
            unpacked.rename(directory)
        except OSError:
            if not directory.exists():  # another process was quicker
                raise
    return directory


class Registry:
    """One registry; it keeps its port when it is killed and started again, but not its schemas."""

    def __init__(self, directory: Path) -> None:
        self._log = directory / "registry.log"
        self._jar = fetch() / f"apicurio-registry-app-{VERSION}-runner.jar"
        self._port, self._management_port = _free_ports(2)
        self.url = f"http://127.0.0.1:{self._port}/apis/ccompat/v7"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the registry and waits until it answers."""
        java = shutil.which("java") or str(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
        options = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dapicurio.storage.sql.kind=h2"]
        options += ["-Dquarkus.http.host=127.0.0.1", f"-Dquarkus.http.port={self._port}"]
        options += ["-Dquarkus.management.host=127.0.0.1", f"-Dquarkus.management.port={self._management_port}"]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen([java, *options, "-jar", str(self._jar)], stdout=log, stderr=log,
                                             cwd=self._log.parent, stdin=subprocess.DEVNULL,
                                             preexec_fn=_die_with_parent)  # fmt: skip
        give_up = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError(f"the registry does not start:\n{self._log.read_text(errors='replace')[-4000:]}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/subjects", timeout=5).close()
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """Ends the registry."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()


def _die_with_parent() -> None:
    """No registry outlives the tests that started it, however they end."""
    if sys.platform == "linux":
        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def main() -> None:
    """Runs a registry until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="only download the program")
    if parser.parse_args().fetch:
        print(fetch())
        return
    with tempfile.TemporaryDirectory(prefix="scurry-apicurio-") as directory:
        registry = Registry(Path(directory))
        registry.start()
        print(f"Apicurio {VERSION} at {registry.url}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            registry.stop()


if __name__ == "__main__":
    main()
