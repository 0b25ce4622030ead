"""Topic -> windows -> topic, exactly once, whoever is killed: a worker, the broker, the job.

`SCURRY_KILLS` says how often each is killed (20), `SCURRY_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import threading
import time
from pathlib import Path

import pytest

from scurry.connectors.kafka.properties import ClientProperties
from scurry.connectors.kafka.transactions import TransactionCommitter
from support.faults.job_directory import Place
from support.faults.job_processes import kill, workers
from support.kafka.broker import Kafka
from support.kafka.killed_job import KilledJob, Readings, count

pytestmark = [
    pytest.mark.kafka,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds the processes of a session in /proc"),
]

KILLS = count("SCURRY_KILLS", 20)
SEED = int(os.environ.get("SCURRY_SEED", str(random.SystemRandom().randrange(10**6))))
#: Tasks are repeated, as on a cluster; on a local master they are not unless it is told how often they may fail.
OPTIONS = ["--master", "local[4,8]"]


def test_every_window_is_there_once_whoever_is_killed(kafka: Kafka, tmp_path: Path) -> None:
    """New readings come before the kills. The job is killed while the broker is away, or when both go on again."""
    print(f"\nSCURRY_SEED={SEED}")
    chance, killed = random.Random(SEED), {"worker": 0, "broker": 0, "job": 0}
    readings, target, place = Readings(kafka, KILLS * 400), kafka.topic(2), Place.new(tmp_path, 1, tmp_path)
    arguments = [kafka.address, readings.topic, target, str(place.checkpoints), readings.ends]
    job = KilledJob(place, arguments, OPTIONS)
    readings.write(100)
    run = job.start()
    for _ in range(KILLS):
        readings.write(190)
        assert job.goes_on_for(run, 1, chance.uniform(0, 0.7)), place.log.read_text()[-4000:]
        for _ in range(100):
            here = workers(run.process.pid)
            if here and kill(chance.choice(here)):
                killed["worker"] += 1
                break
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.7))
        kafka.broker.kill()
        killed["broker"] += 1
        goes_on = chance.random() < 0.5
        time.sleep(chance.uniform(0, 0.5))
        if goes_on:
            kafka.broker.start()
            readings.write(190)
            assert job.goes_on_for(run, 1, chance.uniform(0, 0.7)), place.log.read_text()[-4000:]
        run.kill()
        killed["job"] += 1
        run = job.start()
        if not goes_on:
            time.sleep(chance.uniform(0, 0.5))
            kafka.broker.start()
        print(f"{killed} after {len(place.batches())} batches", flush=True)
    readings.write_the_rest()
    run.finish()
    assert kafka.read(target) == readings.expected
    assert killed == {"worker": KILLS, "broker": KILLS, "job": KILLS}


def test_every_window_is_there_once_in_process_whoever_is_killed(kafka: Kafka, tmp_path: Path) -> None:
    print(f"\nSCURRY_SEED={SEED}")
    chance, readings, target = random.Random(SEED), Readings(kafka, KILLS * 100), kafka.topic(2)
    place = Place.new(tmp_path, 1, tmp_path)
    arguments = [kafka.address, readings.topic, target, str(place.checkpoints), readings.ends]
    job = KilledJob(place, arguments, ["--runner", "local"])
    run, of_broker = job.start(), 0
    for number in range(KILLS):
        readings.write(90)
        assert job.goes_on_for(run, 1, chance.uniform(0, 0.3)), place.log.read_text()[-4000:]
        if number % 6 == 1:
            kafka.broker.kill()
            of_broker += 1
            time.sleep(chance.uniform(0, 0.5))
            kafka.broker.start()
            time.sleep(chance.uniform(0, 0.5))
        run.kill()
        print(f"killed after {len(place.batches())} batches; {of_broker} kills of the broker", flush=True)
        run = job.start()
    readings.write_the_rest()
    run.finish()
    assert kafka.read(target) == readings.expected


def test_a_transaction_goes_on_when_the_broker_comes_back(kafka: Kafka) -> None:
    """Clients that lose their brokers must not forget them for good, as librdkafka's do by default since 2.16."""
    topic, other = kafka.topic(), kafka.topic()
    committer = TransactionCommitter(ClientProperties({"bootstrap.servers": kafka.address}), f"of-{topic}", topic)
    batch, stopping = 0, threading.Event()

    def write() -> None:
        nonlocal batch
        while not stopping.is_set():
            committer.commit(batch, [[(topic, None, f"{batch}".encode(), 0, None)]])
            batch += 1

    def reaches(number: int) -> None:
        give_up = time.monotonic() + 60
        while batch < number:
            assert writer.is_alive() and time.monotonic() < give_up, f"stuck at batch {batch}"
            time.sleep(0.01)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    starting = TransactionCommitter(ClientProperties({"bootstrap.servers": kafka.address}), f"by-{topic}", other)
    for number in range(2):
        reaches(batch + 5)
        kafka.broker.kill()
        kafka.broker.start()
        starting.restarted()  # it asks for its offsets while the broker may still be loading them
        starting.commit(number, [[(other, None, f"{number}".encode(), 0, None)]])
    reaches(batch + 5)
    stopping.set()
    writer.join()
    committer.finish()
    assert kafka.read(other) == ["0", "1"]
    assert kafka.read(topic) == sorted(str(number) for number in range(batch))
