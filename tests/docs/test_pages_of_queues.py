"""The programs of the pages on queues shout: what is put into one queue comes out of another one in capitals."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nats
import paho.mqtt.client as paho
import pika
import pytest
import redis
from paho.mqtt.enums import CallbackAPIVersion

from support.docs.blocks import PAGES
from support.servers import pubsub
from support.servers.kinesis import KinesisServer, client_of
from support.servers.mosquitto import MosquittoServer
from support.servers.nats import NatsServer
from support.servers.process import ServerProcess
from support.servers.rabbitmq import RabbitServer
from support.servers.redis import RedisServer

pytestmark = pytest.mark.servers

#: Pages whose queue keeps no order.
UNORDERED = ("pubsub",)
SAID, SHOUTED = ["one", "two", "three"], ["ONE", "TWO", "THREE"]


class Rabbit:
    """Queues `orders` and `shouted`."""

    def __init__(self, port: int) -> None:
        self.channel = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port)).channel()
        for queue in ("orders", "shouted"):
            self.channel.queue_declare(queue, durable=True)

    def put(self) -> None:
        for text in SAID:
            self.channel.basic_publish("", "orders", text.encode(), pika.BasicProperties(correlation_id=text))

    def taken(self) -> list[str]:
        found = []
        while (body := self.channel.basic_get("shouted", auto_ack=True)[2]) is not None:
            found.append(body.decode())
        return found


class Redis:
    """Streams `words` and `shouted`."""

    def __init__(self, port: int) -> None:
        self.client, self.last = redis.Redis(port=port), "-"

    def put(self) -> None:
        for text in SAID:
            self.client.xadd("words", {"value": text})

    def taken(self) -> list[str]:
        entries: Any = self.client.xrange("shouted", self.last)
        if entries:
            self.last = f"({entries[-1][0].decode()}"
        return [fields[b"value"].decode() for _, fields in entries]


class Nats:
    """Streams `WORDS` and `SHOUTED`."""

    def __init__(self, port: int) -> None:
        self.url, self.number = f"nats://127.0.0.1:{port}", 0
        asyncio.run(self._do(self._make))

    async def _do(self, act: Callable[[Any], Any]) -> Any:
        connection = await nats.connect(self.url)
        try:
            return await act(connection.jetstream())
        finally:
            await connection.close()

    async def _make(self, stream: Any) -> None:
        for name in ("words", "shouted"):
            await stream.add_stream(name=name.upper(), subjects=[f"{name}.*"])

    def put(self) -> None:
        async def publish(stream: Any) -> None:
            for text in SAID:
                await stream.publish("words.en", text.encode())

        asyncio.run(self._do(publish))

    def taken(self) -> list[str]:
        async def read(stream: Any) -> list[str]:
            last = (await stream.stream_info("SHOUTED")).state.last_seq
            found = [await stream.get_msg("SHOUTED", number) for number in range(self.number + 1, last + 1)]
            self.number = last
            return [each.data.decode() for each in found]

        return list(asyncio.run(self._do(read)))


class Kinesis:
    """Streams `words` and `shouted`."""

    def __init__(self, port: int) -> None:
        self.client = client_of(port)
        for name in ("words", "shouted"):
            self.client.create_stream(StreamName=name, ShardCount=1)
        self.iterator: str | None = None

    def put(self) -> None:
        for text in SAID:
            self.client.put_record(StreamName="words", Data=text.encode(), PartitionKey="a")

    def taken(self) -> list[str]:
        if self.iterator is None:
            begin = {"ShardId": "shardId-000000000000", "ShardIteratorType": "TRIM_HORIZON"}
            self.iterator = self.client.get_shard_iterator(StreamName="shouted", **begin)["ShardIterator"]
        answer = self.client.get_records(ShardIterator=self.iterator)
        self.iterator = answer["NextShardIterator"]
        return [record["Data"].decode() for record in answer["Records"]]


class Mqtt:
    """Topics `doors/#` and `alarms`; messages are kept for the session of the job, which it begins when it starts."""

    def __init__(self, port: int) -> None:
        self.found: list[str] = []
        for name in ("doors-job", "listener"):  # both are known before anything is published
            client = paho.Client(CallbackAPIVersion.VERSION2, client_id=name, clean_session=False)
            client.on_message = lambda client, data, message: self.found.append(message.payload.decode())
            client.connect("127.0.0.1", port)
            client.loop_start()
            subscribed = client.subscribe("doors/#" if name == "doors-job" else "alarms", 1)
            assert subscribed[0] == paho.MQTT_ERR_SUCCESS
            time.sleep(0.2)
            if name == "doors-job":
                client.disconnect()
                client.loop_stop()
        self.client = client

    def put(self) -> None:
        for text in SAID:
            self.client.publish("doors/front", text, qos=1).wait_for_publish(60)

    def taken(self) -> list[str]:
        found, self.found = self.found, []
        return found


class PubSub:
    """Topics and subscriptions `words` and `shouted`."""

    def __init__(self, port: int) -> None:
        self.port = port
        for name in ("words", "shouted"):
            pubsub.make(port, name)

    def put(self) -> None:
        pubsub.publish(self.port, "words", SAID)

    def taken(self) -> list[str]:
        return pubsub.taken(self.port, "shouted")


@pytest.mark.parametrize(
    ("page", "server", "default", "queue"),
    [
        ("rabbitmq", RabbitServer, 5672, Rabbit),
        ("redis", RedisServer, 6379, Redis),
        ("kinesis", KinesisServer, 4568, Kinesis),
        ("nats", NatsServer, 4222, Nats),
        ("mqtt", MosquittoServer, 1883, Mqtt),
        ("pubsub", pubsub.PubSubServer, 8085, PubSub),
    ],
)
def test_the_program_of_the_page_shouts(
    page: str, server: type[ServerProcess], default: int, queue: Callable[[int], Any], tmp_path: Path
) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGES[f"connectors/{page}.md"], re.MULTILINE | re.DOTALL)
    with server() as made:
        ends = queue(made.port)
        ends.put()
        file, log = tmp_path / "program.py", tmp_path / "log"
        file.write_text(program.replace("localhost", "127.0.0.1").replace(str(default), str(made.port)))
        command = [sys.executable, "-m", "scurry", "run", "--runner", "local", "-p", "1", str(file)]
        with open(log, "wb") as output, subprocess.Popen(command, cwd=tmp_path, stdout=output, stderr=output) as job:
            try:
                found: list[str] = []
                give_up = time.monotonic() + 120
                while len(found) < len(SHOUTED):
                    assert job.poll() is None and time.monotonic() < give_up, log.read_text()
                    found += ends.taken()
                    time.sleep(0.1)
            finally:
                job.kill()
        if page in UNORDERED:
            found.sort(key=SHOUTED.index)
        assert found == SHOUTED
