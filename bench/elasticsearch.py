"""The Elasticsearch sink beside PyFlink's: documents per second, on a real server and on one that takes all at once.

python bench/elasticsearch.py [--documents 200000] [--kinds sql stream] [--runs 1]

Flink's connector is that of Flink 1.17, the newest on Maven Central, so PyFlink is 1.20, the newest on which it runs:
BENCH_PYFLINK_1 is a Python with it. The server that takes all at once is a process of this program, which counts
documents; it shows the limits of the sinks, not those of a server on the same machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import socketserver
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import Process, Queue
from pathlib import Path
from typing import Any, ClassVar

from processes import Run, environment_of_scurry, run_process

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "tests"))

from scurry.common._process.directories import cache_directory  # noqa: E402
from scurry.testing.kafka import CENTRAL  # noqa: E402

_CONNECTOR = (
    "org/apache/flink/flink-sql-connector-elasticsearch7/3.0.1-1.17/flink-sql-connector-elasticsearch7-3.0.1-1.17.jar"
)
_DIGEST = "1ccfd046ac98184e468bb17216bea86580de203434023b29c5da854f787a2d81"
_INFO = {"name": "x", "version": {"number": "7.10.2", "minimum_wire_compatibility_version": "6.8.0"}}


def connector() -> Path:
    """Returns Flink's connector, fetched if it is not there yet."""
    jar = cache_directory() / Path(_CONNECTOR).name
    if not jar.exists():
        with urllib.request.urlopen(f"{CENTRAL}/{_CONNECTOR}", timeout=120) as answer:
            content = answer.read()
        if hashlib.sha256(content).hexdigest() != _DIGEST:
            raise ValueError(f"{CENTRAL}/{_CONNECTOR} is not the jar that is expected")
        jar.write_bytes(content)
    return jar


class _Taker(socketserver.StreamRequestHandler):
    """Answers bulk requests without reading them, and says how many documents they had."""

    documents: ClassVar[dict[str, int]] = {}
    answers: ClassVar[dict[tuple[bytes, int], bytes]] = {}

    def handle(self) -> None:
        """Answer the requests of a connection."""
        while request := self.rfile.readline():
            length = 0
            while (header := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            body = self.rfile.read(length)
            content = json.dumps({"count": sum(self.documents.values()), **_INFO}).encode()
            if b"_bulk" in request:
                content = self._bulk(body)
            if request.startswith(b"HEAD"):
                content = b""
            head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json; charset=UTF-8\r\ncontent-length: {len(content)}"
            self.wfile.write(head.encode() + b"\r\n\r\n" + content)

    def _bulk(self, body: bytes) -> bytes:
        operation, count = body[2 : body.index(b'"', 2)], body.count(b"\n") // 2
        mine = threading.current_thread().name
        self.documents[mine] = self.documents.get(mine, 0) + count
        if (operation, count) not in self.answers:
            shards = {"total": 1, "successful": 1, "failed": 0}
            done = {"_index": "i", "_type": "_doc", "_id": "1", "_version": 1, "result": "created", "_shards": shards,
                    "_seq_no": 0, "_primary_term": 1, "status": 201}  # fmt: skip
            items = [{operation.decode(): done}] * count
            compact = (",", ":")  # as the real server writes
            answer = {"took": 1, "errors": False, "items": items}
            self.answers[operation, count] = json.dumps(answer, separators=compact).encode()
        return self.answers[operation, count]


def _take(port: Any) -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Taker) as server:
        server.daemon_threads = True
        port.put(server.server_address[1])
        server.serve_forever()


@contextmanager
def taker() -> Iterator[str]:
    """A server that takes all documents at once, while a `with` block runs; yields its address."""
    port: Any = Queue()
    process = Process(target=_take, args=(port,), daemon=True)
    process.start()
    try:
        yield f"127.0.0.1:{port.get()}"
    finally:
        process.kill()


@contextmanager
def real() -> Iterator[str]:
    """Elasticsearch 7.10.2 while a `with` block runs; yields its address."""
    from support.servers.opensearch import ElasticsearchServer

    with ElasticsearchServer() as server:
        yield f"127.0.0.1:{server.port}"


def asked(host: str, path: str, method: str = "GET", body: bytes | None = None) -> Any:
    """The answer of a server."""
    request = urllib.request.Request(f"http://{host}{path}", body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


def run(peer: str, host: str, index: str, documents: int, kind: str) -> Run:
    """Runs the job on one of both."""
    job = [str(HERE / "jobs" / "elasticsearch_sink.py"), host, index, str(documents), kind]
    if peer == "scurry":
        command = [sys.executable, "-m", "scurry", "run", "--runner", "local", *job]
        return run_process(command, environment_of_scurry())
    python = os.environ["BENCH_PYFLINK_1"]
    environment = {**os.environ, "FLINK_JARS": connector().as_uri(), "PYFLINK_PYTHON": python}
    environment["PATH"] = f"{Path(python).parent}{os.pathsep}{environment['PATH']}"
    return run_process([python, *job], environment)


def main() -> None:
    """Prints documents per second of the job alone, processor time of the whole process, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--kinds", nargs="*", default=["sql", "stream"])
    parser.add_argument("--servers", nargs="*", default=["taker", "real"])
    parser.add_argument("--peers", nargs="*", default=["scurry", "pyflink"])
    parser.add_argument("--runs", type=int, default=1)
    given = parser.parse_args()
    for name in given.servers:
        with {"taker": taker, "real": real}[name]() as host:
            before = 0
            for kind in given.kinds:
                for number in range(given.runs):
                    seconds = {}
                    for peer in given.peers:
                        index = f"documents-{kind}-{number}-{peer}"
                        if name == "real":
                            settings = {"settings": {"number_of_shards": 1, "number_of_replicas": 0}}
                            asked(host, f"/{index}", "PUT", json.dumps(settings).encode())
                        done = run(peer, host, index, given.documents, kind)
                        seconds[peer] = float(done.result()[0])
                        if name == "real":
                            asked(host, f"/{index}/_refresh", "POST")
                        there = asked(host, f"/{index}/_count")["count"] - before
                        before += there if name == "taker" else 0
                        if there != given.documents:
                            sys.exit(f"{peer} has written {there} of {given.documents} documents")
                        rate, used = given.documents / seconds[peer] / 1000, sum(done.processors.values())
                        print(
                            f"{name} {kind} {peer}: {rate:.1f} k documents/s; processor {used:.1f} s; "
                            f"peak memory {done.peaks.get('all', 0):.0f} MB",
                            flush=True,
                        )
                    if len(seconds) == 2:
                        print(f"{name} {kind}: {seconds['pyflink'] / seconds['scurry']:.2f} times", flush=True)


if __name__ == "__main__":
    main()
