"""A backlog in RabbitMQ, Pulsar and Kinesis, worked off by scurry and by PyFlink.

    python bench/queue_backlog.py --pyflink VENV                # 200 k messages in each
    python bench/queue_backlog.py --pyflink VENV --systems rabbitmq --n 500000

The program is bench/jobs/queue_backlog.py, run by both as it is, with a checkpoint each second. The servers are started
as tests start them. VENV has apache-flink 1.20: for Flink 2 none of these connectors is on Maven Central, the last ones
are flink-connector-rabbitmq 3.0.1-1.17, flink-connector-pulsar 4.1.0-1.18 and flink-sql-connector-kinesis 4.0.0-1.16.
PyFlink runs in process mode, its default, and in thread mode, its quicker one.

What is compared is the processor time of a record, of all processes: the difference of two backlogs, one three times as
long as the other, so without the start, and that of the longer run, with the start. Seconds are those of a whole run,
with the start. `--rounds` repeats all runs, in turn.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

import pika  # noqa: E402
import pulsar  # noqa: E402
from processes import Run, run_process  # noqa: E402

from support.maven import fetched  # noqa: E402
from support.servers import kinesis, process  # noqa: E402
from support.servers.process import ServerProcess  # noqa: E402
from support.servers.pulsar import PulsarServer  # noqa: E402
from support.servers.rabbitmq import RabbitServer  # noqa: E402

KEYS = 1_000
#: of bench/jobs/queue_backlog.py
STEP = 500
PARALLELISM = 2
SERVERS: dict[str, type[ServerProcess]] = {
    "rabbitmq": RabbitServer,
    "pulsar": PulsarServer,
    "kinesis": kinesis.KinesisServer,
}
REQUIRED = 5.0
SCURRY = "scurry"
#: of PyFlink
MODES = ("thread", "process")
JARS = {
    "rabbitmq": {
        "org/apache/flink/flink-connector-rabbitmq/3.0.1-1.17/flink-connector-rabbitmq-3.0.1-1.17.jar": (
            "eea9c4273587345e61ebe016dff289f0ca153aaa75dc18c8e1ed3837f7abe482"
        ),
        "com/rabbitmq/amqp-client/5.13.1/amqp-client-5.13.1.jar": (
            "a0cf5b19edfaca9a88a8b25a08d932d5db2fc72f01bbcc20365ffcf85609240f"
        ),
    },
    "kinesis": {
        "org/apache/flink/flink-sql-connector-kinesis/4.0.0-1.16/flink-sql-connector-kinesis-4.0.0-1.16.jar": (
            "8ce0499c6fc3e7c7c4b17c138c152a2a4d6ee3095e374aaf7503265f112b4261"
        ),
    },
    "pulsar": {
        "org/apache/flink/flink-connector-pulsar/4.1.0-1.18/flink-connector-pulsar-4.1.0-1.18.jar": (
            "afb21dfba3e25f65925a3b6f731fdd373124ff574bedae937b728ac951cb2da1"
        ),
        "org/apache/flink/flink-connector-base/1.20.3/flink-connector-base-1.20.3.jar": (
            "e95179da8f560204ae21b1f709497a0928348f8655a23b1e80d458670dc4d4ce"
        ),
        "org/apache/pulsar/pulsar-client-admin-api/3.0.2/pulsar-client-admin-api-3.0.2.jar": (
            "f5e687886bb48f7456de5d65392a624fed7d03fd9f6101b98437b8594e697df7"
        ),
        "org/apache/pulsar/pulsar-client-api/3.0.2/pulsar-client-api-3.0.2.jar": (
            "b2783d26189aa6e25d39b4656f1704be8a708012f28674317b7b8c1fcb7133ab"
        ),
        "org/apache/pulsar/pulsar-client-all/3.0.2/pulsar-client-all-3.0.2.jar": (
            "6a34ba4c10963564af8be16fe46602318436f4e32ae9e09b311215209249204e"
        ),
        # which the shaded client lacks: without it the job restarts for ever
        "com/fasterxml/jackson/core/jackson-annotations/2.14.2/jackson-annotations-2.14.2.jar": (
            "2c6869d505cf60dc066734b7d50339f975bd3adc635e26a78abb71acb4473c0d"
        ),
    },
}


def put(system: str, server: ServerProcess, queue: str, n: int) -> None:
    """Put `key,value` into a queue; each key comes equally often."""
    texts = (b"%d,%d" % (number * 7919 % KEYS, number % 1000) for number in range(n))
    if system == "rabbitmq":
        with pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", server.port)) as connection:
            channel = connection.channel()
            channel.queue_declare(queue, durable=True)
            for text in texts:
                channel.basic_publish("", queue, text)
        return
    if system == "kinesis":
        service = kinesis.client_of(server.port)
        service.create_stream(StreamName=queue, ShardCount=2)
        while service.describe_stream_summary(StreamName=queue)["StreamDescriptionSummary"]["OpenShardCount"] < 2:
            time.sleep(0.05)
        while some := [{"Data": text, "PartitionKey": text.decode()} for text in islice(texts, 500)]:
            assert service.put_records(StreamName=queue, Records=some)["FailedRecordCount"] == 0
        return
    client = pulsar.Client(f"pulsar://127.0.0.1:{server.port}", operation_timeout_seconds=60)
    client.subscribe(queue, "keeps", initial_position=pulsar.InitialPosition.Earliest).close()
    producer = client.create_producer(queue, batching_enabled=True, block_if_queue_full=True)
    for text in texts:
        producer.send_async(text, None)
    producer.flush()
    client.close()


def address_of(system: str, server: ServerProcess) -> str:
    """Return the address that the program takes."""
    if system != "pulsar":
        return str(server.port)
    return f"pulsar://127.0.0.1:{server.port},http://127.0.0.1:{server.ports[1]}"


def command(peer: str, given: Any, system: str, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command of a peer, and its environment."""
    job = str(HERE / "jobs" / "queue_backlog.py")
    paths, variables = [str(HERE / "jobs")], {**os.environ, "PYTHONWARNINGS": "ignore"}
    if peer == SCURRY:
        paths.append(str(HERE.parent / "src"))
        found = [sys.executable, "-m", "scurry", "run", "--runner", given.runner, job, *arguments]
    else:
        variables["FLINK_JARS"] = ";".join(fetched(*each).as_uri() for each in JARS[system].items())
        variables["FLINK_MODE"] = peer
        variables["PATH"] = f"{given.pyflink / 'bin'}{os.pathsep}{variables['PATH']}"
        found = [str(given.pyflink / "bin" / "python"), job, *arguments]
    return found, {**variables, "PYTHONPATH": os.pathsep.join(paths)}


def new_queue(system: str) -> str:
    """Return the name of a new queue.

    Flink's connector gives a topic of Pulsar without partitions to the subtask (hash - 1) % parallelism. For half of
    all names that is -1: nobody ever reads the topic.
    """
    while True:
        queue = f"backlog-{uuid.uuid4().hex[:8]}"
        code = 0
        for letter in f"persistent://public/default/{queue}":
            code = code * 31 + ord(letter) & 0xFFFFFFFF
        if system != "pulsar" or (code * 31 & 0x7FFFFFFF) % PARALLELISM > 0:
            return queue


def seen(out: str) -> int:
    """Return how many records the subtasks have seen, but for less than a step of each."""
    lines = [path.read_text().splitlines() for path in Path(out).iterdir()]
    return sum(int(each[-1]) for each in lines if each)


def measure(peer: str, given: Any, system: str, server: ServerProcess, n: int) -> float:
    """Run the job over a queue of its own; return the seconds of processors."""
    queue = new_queue(system)
    put(system, server, queue, n)
    with tempfile.TemporaryDirectory() as out:

        def is_done(_: Run) -> bool:
            return seen(out) >= n - 2 * STEP

        arguments = [system, address_of(system, server), queue, out]
        done = run_process(*command(peer, given, system, arguments), is_done, 600.0)
        rows = seen(out)
    if rows < n - 2 * STEP:
        sys.exit(f"{peer} has seen {rows} of {n} messages:\n" + "".join(done.lines)[-4000:])
    processor = sum(done.processors.values())
    print(f"  {peer:8} {n:>10,} messages  {done.seconds:8.1f} s  processors {processor:.1f} s", flush=True)
    return processor


def compare(system: str, server: ServerProcess, given: Any) -> None:
    """Run all over two backlogs, in turn, and print the ratios."""
    less, costs = given.n // 3, dict[str, float]()
    runs = {(peer, n): measure(peer, given, system, server, n) for n in (less, given.n) for peer in (SCURRY, *MODES)}
    for peer in (SCURRY, *MODES):
        costs[peer] = (runs[peer, given.n] - runs[peer, less]) / (given.n - less) * 1e6
        print(f"{system}: {peer} {costs[peer]:.1f} us of processors for a record", flush=True)
    for mode in MODES:
        ratio, whole = costs[mode] / costs[SCURRY], runs[mode, given.n] / runs[SCURRY, given.n]
        required = "as" if ratio >= REQUIRED else "NOT AS"
        print(f"{system}: PyFlink's in {mode} mode, times scurry's: {ratio:.2f} ({required} required)", end="")
        print(f"; with the start {whole:.2f}", flush=True)


def main() -> None:
    """Fill queues, run both, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200_000, help="messages of a backlog")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--runner", choices=("spark", "local"), default="spark", help="of scurry")
    parser.add_argument("--systems", default=",".join(SERVERS))
    parser.add_argument("--pyflink", type=Path, required=True, metavar="VENV", help="an environment with PyFlink 1.20")
    given: Any = parser.parse_args()
    process.START_SECONDS = 600  # on a busy machine
    for system in given.systems.split(","):
        print(f"{system}: {given.n:,} messages, {KEYS:,} keys", flush=True)
        with SERVERS[system]() as server:
            for _ in range(given.rounds):
                compare(system, server, given)


if __name__ == "__main__":
    main()
