"""A real Kafka broker for tests and for trying things out: one KRaft node on loopback, from Maven Central's jars.

    python tools/kafka.py            # runs a broker until interrupted, and prints its address
    python tools/kafka.py --fetch    # only fills the cache

The jars, named with their checksums in kafka-jars.txt, are kept in ~/.cache/scurry. A Java 17 is needed.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path

VERSION = "4.1.2"
CENTRAL = os.environ.get("SCURRY_MAVEN", "https://repo1.maven.org/maven2")
START_SECONDS = 120
START_TRIES = 5
#: what the SASL listener lets in
USER, PASSWORD = "alice", "open-sesame"


def cache() -> Path:
    """Where the jars are kept."""
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return root / "scurry" / f"kafka-{VERSION}"


def fetch() -> Path:
    """Downloads the jars that are not there yet, and checks them; returns their directory.

    Raises:
        OSError: Maven Central cannot be reached.
        ValueError: A jar is not the one that is expected.
    """
    directory = cache()
    directory.mkdir(parents=True, exist_ok=True)
    for line in (Path(__file__).parent / "kafka-jars.txt").read_text().splitlines():
        digest, path = line.split()
        jar = directory / Path(path).name
        if jar.exists():
            continue
        try:
            with urllib.request.urlopen(f"{CENTRAL}/{path}", timeout=60) as answer:
                content = answer.read()
        except http.client.HTTPException as error:
            raise OSError(f"{CENTRAL}/{path}: {error}") from error
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"{CENTRAL}/{path} is not the jar that tools/kafka-jars.txt names")
        partial = jar.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(jar)
    return directory


class Broker:
    """One broker in a directory of its own; it keeps its ports and its data when it is killed and started again."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._jars = fetch()
        self.port, self.sasl_port, controller = _free_ports(3)
        self.address = f"127.0.0.1:{self.port}"
        self.sasl_address = f"127.0.0.1:{self.sasl_port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._properties = directory / "server.properties"
        self._properties.write_text(_PROPERTIES.format(port=self.port, sasl=self.sasl_port, controller=controller,
                                                       data=directory / "data", user=USER,
                                                       password=PASSWORD))  # fmt: skip
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # one argument: an identifier may begin with a hyphen
        self._java("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(self._properties)).wait()

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home, "bin", "java")) if home else shutil.which("java") or "java"
        options = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        with open(self._directory / "broker.log", "ab") as log:
            return subprocess.Popen([java, *options, "-cp", f"{self._jars}/*", *command], stdout=log, stderr=log,
                                    stdin=subprocess.DEVNULL, preexec_fn=_die_with_parent)  # fmt: skip

    def start(self) -> None:
        """Starts the broker and waits until it answers."""
        self._process = self._java("kafka.Kafka", str(self._properties))
        give_up, tries = time.monotonic() + START_SECONDS, 1
        while not _answers(self.port):
            if self._process.poll() is not None and tries < START_TRIES:
                tries += 1  # somebody's connection may have got one of the ports while nobody listened
                time.sleep(1)
                self._process = self._java("kafka.Kafka", str(self._properties))
            elif self._process.poll() is not None or time.monotonic() > give_up:
                log = (self._directory / "broker.log").read_text(errors="replace")
                raise RuntimeError(f"the Kafka broker does not start:\n{log[-4000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Ends the broker as a failing machine would."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def stop(self) -> None:
        """Ends the broker for good."""
        if self._process is not None and self._process.poll() is None:
            self.kill()


def _die_with_parent() -> None:
    """No broker outlives the tests that started it, however they end."""
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


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


_PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:{port},SASL://127.0.0.1:{sasl},CONTROLLER://127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
    user_{user}="{password}";
log.dirs={data}
auto.create.topics.enable=false
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=3
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=3
group.initial.rebalance.delay.ms=0
# a broker that was killed is let in again as soon as the session of its former self has ended
broker.session.timeout.ms=1000
broker.heartbeat.interval.ms=250
"""


def main() -> None:
    """Runs a broker until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="only download the jars")
    if parser.parse_args().fetch:
        print(fetch())
        return
    with tempfile.TemporaryDirectory(prefix="scurry-kafka-") as directory:
        broker = Broker(Path(directory))
        broker.start()
        print(f"Kafka {VERSION} at {broker.address}", flush=True)
        print(f"SASL/PLAIN at {broker.sasl_address}: {USER}, {PASSWORD}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            broker.stop()


if __name__ == "__main__":
    main()
