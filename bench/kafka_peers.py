"""What the Kafka benchmarks share: a broker, records in it, and programs run by scurry and by PyFlink.

Both run the same files of bench/jobs, written for PyFlink. PyFlink needs Flink's Kafka connector, which is fetched from
Maven Central once and kept in ~/.cache/scurry.
"""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import Run, run_process

from scurry.common._process.directories import cache_directory
from scurry.testing.kafka import CENTRAL, KafkaBroker

HERE = Path(__file__).resolve().parent
VENVS = Path(os.environ.get("BENCH_VENVS", "/tmp/venvs"))
PARALLELISM = 2
PARTITIONS = 2

_CONNECTOR = "org/apache/flink/flink-sql-connector-kafka/5.0.0-2.2/flink-sql-connector-kafka-5.0.0-2.2.jar"
_CONNECTOR_DIGEST = "5605c691d11a501382c383fecba37a7a552467da5ab7ba904ef5d6f3d62c5616"


def connector() -> Path:
    """Returns Flink's Kafka connector, fetched if it is not there yet."""
    jar = cache_directory() / Path(_CONNECTOR).name
    if not jar.exists():
        with urllib.request.urlopen(f"{CENTRAL}/{_CONNECTOR}", timeout=120) as answer:
            content = answer.read()
        if hashlib.sha256(content).hexdigest() != _CONNECTOR_DIGEST:
            raise ValueError(f"{CENTRAL}/{_CONNECTOR} is not the jar that is expected")
        partial = jar.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(jar)
    return jar


@contextmanager
def broker() -> Iterator[str]:
    """A broker in a process of its own while a `with` block runs; yields its address."""
    with KafkaBroker() as running:
        yield running.address


def create_topic(address: str, name: str, **configuration: str) -> None:
    """Makes a topic with as many partitions as the jobs have readers."""
    from confluent_kafka.admin import AdminClient, NewTopic

    settings = {key.replace("_", "."): value for key, value in configuration.items()}
    admin = AdminClient({"bootstrap.servers": address})
    admin.create_topics([NewTopic(name, PARTITIONS, 1, config=settings)])[name].result()


class Writer:
    """A producer that keeps the order of each partition."""

    def __init__(self, address: str, topic: str) -> None:
        """Write to a topic."""
        from confluent_kafka import Producer

        self._producer = Producer({"bootstrap.servers": address, "enable.idempotence": True, "linger.ms": 5,
                                   "batch.size": 1 << 19, "queue.buffering.max.messages": 500_000})  # fmt: skip
        self._topic = topic

    def write(self, value: bytes, partition: int, timestamp: int) -> None:
        """Take a record."""
        while True:
            try:
                self._producer.produce(self._topic, value, partition=partition, timestamp=timestamp)
                return
            except BufferError:
                self._producer.poll(0.05)

    def poll(self) -> None:
        """Let librdkafka tell what it has delivered."""
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until everything is delivered."""
        self._producer.flush()


# -------------------------------------------------------------------------------------------------- programs


def command(peer: str, job: str, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
    """The command that runs a file of bench/jobs; options are scurry's."""
    path = str(HERE / "jobs" / job)
    if peer == "scurry":
        return [sys.executable, "-m", "scurry", "run", *options, path, *arguments]
    return [str(VENVS / "pyflink" / "bin" / "python"), path, *arguments]


def environment(peer: str) -> dict[str, str]:
    """The environment of that command."""
    paths = [str(HERE / "jobs")]
    variables = {**os.environ, "PYTHONWARNINGS": "ignore"}
    if peer == "scurry":
        paths.append(str(HERE.parent / "src"))
    else:
        variables["FLINK_JARS"] = connector().as_uri()
        variables["PATH"] = f"{VENVS / 'pyflink' / 'bin'}{os.pathsep}{variables['PATH']}"
    return {**variables, "PYTHONPATH": os.pathsep.join(paths)}


def run(peer: str, job: str, *arguments: str, options: tuple[str, ...] = (),
        until: Callable[[Run], bool] | None = None, limit: float = 3600.0) -> Run:  # fmt: skip
    """Runs a job to its end, or until something holds, and leaves nothing of it.

    Args:
        peer: scurry or pyflink.
        job: A file of bench/jobs.
        *arguments: Its arguments.
        options: More for scurry.
        until: Ends the job when it returns True; asked four times a second.
        limit: Seconds after which the job is ended anyway.
    """
    return run_process(command(peer, job, *arguments, options=options), environment(peer), until, limit)
