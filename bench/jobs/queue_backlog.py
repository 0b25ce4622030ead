"""A backlog in RabbitMQ, Pulsar or Kinesis, counted by key; a program of PyFlink (see bench/queue_backlog.py).

queue_backlog.py SYSTEM ADDRESS QUEUE OUT       SYSTEM: rabbitmq, kinesis (PORT) or pulsar (SERVICE_URL,ADMIN_URL)
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Iterable, Iterator
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.common.serialization import SimpleStringSchema
from pyflink.datastream import DataStream, FlatMapFunction, StreamExecutionEnvironment
from pyflink.datastream.functions import KeyedProcessFunction, RuntimeContext
from pyflink.datastream.state import ValueStateDescriptor

PAIR = Types.TUPLE([Types.LONG(), Types.LONG()])
#: Records after which a subtask tells how many it has seen.
STEP = 500


class Count(KeyedProcessFunction):
    """Emits each key's count so far."""

    def open(self, runtime_context: RuntimeContext) -> None:
        """Get the state."""
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterator[tuple[int, int]]:
        """Count one record."""
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value[0], count


class Progress(FlatMapFunction):
    """Counts records; each subtask writes the number to a file at each step."""

    def __init__(self, out: str) -> None:
        """Take the directory of the files."""
        self.out = out

    def open(self, runtime_context: RuntimeContext) -> None:
        """Begin."""
        self.rows = 0
        self.file = open(os.path.join(self.out, uuid.uuid4().hex), "a", buffering=1)

    def flat_map(self, value: tuple[int, int]) -> Iterable[Any]:
        """Take a result."""
        if self.rows % STEP == 0:
            self.file.write(f"{self.rows}\n")
        self.rows += 1
        return ()

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def pair(text: str) -> tuple[int, int]:
    """Return key and value of a message."""
    key, value = text.split(",")
    return int(key), int(value)


def messages(env: StreamExecutionEnvironment, system: str, address: str, queue: str) -> DataStream:
    """Return the messages of a queue."""
    if system == "rabbitmq":
        from pyflink.datastream.connectors.rabbitmq import RMQConnectionConfig, RMQSource

        builder = RMQConnectionConfig.Builder().set_host("127.0.0.1").set_port(int(address)).set_virtual_host("/")
        config = builder.set_user_name("guest").set_password("guest").build()
        return env.add_source(RMQSource(config, queue, False, SimpleStringSchema()))
    if system == "kinesis":
        from pyflink.datastream.connectors.kinesis import FlinkKinesisConsumer

        names = ("accesskeyid", "secretkey")
        settings = {f"aws.credentials.provider.basic.{name}": "test" for name in names}
        settings |= {"aws.region": "us-east-1", "aws.endpoint": f"http://127.0.0.1:{address}"}
        settings["flink.stream.initpos"] = "TRIM_HORIZON"
        return env.add_source(FlinkKinesisConsumer(queue, SimpleStringSchema(), settings))
    from pyflink.datastream.connectors.pulsar import PulsarSource, StartCursor

    service, admin = address.split(",")
    pulsar = PulsarSource.builder().set_service_url(service).set_admin_url(admin).set_topics(queue)
    pulsar = pulsar.set_start_cursor(StartCursor.earliest()).set_subscription_name("bench")
    source = pulsar.set_deserialization_schema(SimpleStringSchema()).build()
    return env.from_source(source, WatermarkStrategy.no_watermarks(), "messages")


def main(system: str, address: str, queue: str, out: str) -> None:
    """Run the job until it is ended."""
    settings = Configuration()
    if "FLINK_JARS" in os.environ:
        settings.set_string("pipeline.jars", os.environ["FLINK_JARS"])
        settings.set_string("python.execution-mode", os.environ["FLINK_MODE"])
    env = StreamExecutionEnvironment.get_execution_environment(settings)
    env.set_parallelism(2)
    env.enable_checkpointing(1000)
    keyed = messages(env, system, address, queue).map(pair, output_type=PAIR).key_by(lambda record: record[0])
    keyed.process(Count(), output_type=PAIR).flat_map(Progress(out), output_type=PAIR).print()
    env.execute("backlog")


if __name__ == "__main__":
    main(*sys.argv[1:])
