"""A real Kafka broker for tests and experiments: one node on this machine, without a cluster or a container.

    python -m scurry.testing.kafka              # runs a broker at localhost:9092 until interrupted
    python -m scurry.testing.kafka --fetch      # only downloads what it needs

Kafka's jars, named with their checksums in kafka-jars.txt, come from Maven Central and are kept in scurry's cache
directory. They run on the Java that Spark runs on.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import http.client
import importlib
import os
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
from typing import Any

from scurry.common._process.directories import cache_directory
from scurry.errors import ArgumentError

__all__ = ["CENTRAL", "PASSWORD", "USER", "VERSION", "KafkaBroker", "fetch"]

VERSION = "4.1.2"
#: The server that Kafka's jars come from.
CENTRAL = os.environ.get("SCURRY_MAVEN", "https://repo1.maven.org/maven2")
#: Who may log in at the SASL listener.
USER, PASSWORD = "alice", "open-sesame"

_START_SECONDS = 120
_START_TRIES = 5


def fetch() -> Path:
    """Download Kafka's jars that are not there yet.

    Returns:
        Their directory.

    Raises:
        OSError: Maven Central cannot be reached.
        ValueError: A jar is not the one that is expected.
    """
    directory = cache_directory() / f"kafka-{VERSION}"
    directory.mkdir(parents=True, exist_ok=True)
    for line in Path(__file__).with_name("kafka-jars.txt").read_text().splitlines():
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
            raise ValueError(f"{CENTRAL}/{path} is not the jar that kafka-jars.txt names")
        partial = jar.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(jar)
    return directory


class KafkaBroker:
    """One broker on loopback; it keeps its ports and its data when it is killed and started again.

    `with KafkaBroker() as broker:` starts it, and ends it with the block. It ends with this process at the latest.

    Args:
        directory: Where its data is; a temporary directory if not given, which is deleted with the broker.
        port: The port of its listener; a free one if not given.

    Attributes:
        address: The host and port of the listener, for `bootstrap.servers`.
        sasl_address: Those of a listener with SASL/PLAIN, for `USER` with `PASSWORD`.

    Raises:
        ArgumentError: Another process uses the port.
        JavaMissingError: There is no Java, and none can be installed.
        OSError: Kafka's jars cannot be downloaded.
    """

    def __init__(self, directory: Path | None = None, port: int | None = None) -> None:
        if port is not None and _answers(port):
            raise ArgumentError(f"port {port} is in use: give the broker another one, with --port or `port=`")
        self._temporary = tempfile.TemporaryDirectory(prefix="scurry-kafka-") if directory is None else None
        self._directory = Path(self._temporary.name) if self._temporary is not None else Path(directory or "")
        self._jars, self._java_home = fetch(), _java_home()
        free, sasl_port, controller = _free_ports(3)
        self._port = free if port is None else port
        self.address = f"127.0.0.1:{self._port}"
        self.sasl_address = f"127.0.0.1:{sasl_port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._properties = self._directory / "server.properties"
        self._properties.write_text(
            _PROPERTIES.format(
                port=self._port,
                sasl=sasl_port,
                controller=controller,
                data=self._directory / "data",
                user=USER,
                password=PASSWORD,
            )
        )
        cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        # one argument: an identifier may begin with a hyphen
        self._java("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(self._properties)).wait()

    def __enter__(self) -> KafkaBroker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the broker and wait until it answers.

        Raises:
            RuntimeError: It does not start; the message has the end of its log.
        """
        self._process = self._java("kafka.Kafka", str(self._properties))
        give_up, tries = time.monotonic() + _START_SECONDS, 1
        while not _answers(self._port):
            if self._process.poll() is not None and tries < _START_TRIES:
                tries += 1  # another connection may have taken one of the ports meanwhile
                time.sleep(1)
                self._process = self._java("kafka.Kafka", str(self._properties))
            elif self._process.poll() is not None or time.monotonic() > give_up:
                log = (self._directory / "broker.log").read_text(errors="replace")
                raise RuntimeError(f"the Kafka broker does not start:\n{log[-4000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """End the broker as a failing machine would; `start` lets it come back with its data."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()

    def stop(self) -> None:
        """End the broker for good."""
        self.kill()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        options = ["-Xmx384m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        with open(self._directory / "broker.log", "ab") as log:
            return subprocess.Popen(
                [self._java_home / "bin" / "java", *options, "-cp", f"{self._jars}/*", *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=_die_with_parent,
            )


def _java_home() -> Path:
    setup: Any = importlib.import_module("scurry.spark.session.setup")
    setup.prepare_java()
    return Path(os.environ["JAVA_HOME"])


def _die_with_parent() -> None:
    """No broker outlives the process that started it, however that ends."""
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
    """Run a broker until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m scurry.testing.kafka", description="Run a Kafka broker on this machine until interrupted."
    )
    parser.add_argument("--port", type=int, default=9092, help="of its listener; 9092 if not given")
    parser.add_argument("--fetch", action="store_true", help="only download the jars")
    options = parser.parse_args()
    if options.fetch:
        print(fetch())
        return
    try:
        broker = KafkaBroker(port=options.port)
    except (ArgumentError, OSError) as error:
        sys.exit(f"error: {error}")
    with broker:
        print(f"Kafka {VERSION} at localhost:{options.port}, until interrupted", flush=True)
        print(f"with SASL/PLAIN at {broker.sasl_address}: {USER}, {PASSWORD}", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
