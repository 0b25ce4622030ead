"""OpenSearch and Elasticsearch, from Maven Central."""

from __future__ import annotations

import json
import os
import shutil
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.spark.session.java import java_home
from support.maven import fetched
from support.servers.debian import Unavailable
from support.servers.process import ServerProcess


class OpenSearchServer(ServerProcess):
    """A node of OpenSearch, with 400 MB of heap."""

    needs_ports = 2
    product = "opensearch"
    archive = "org/opensearch/distribution/integ-test-zip/opensearch/2.19.6/opensearch-2.19.6.zip"
    digest = "71d6d8b1c637f3faecda0752b184b1cc526fc6eaad59ec1408c6327bb00b9293"

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        if os.getuid() == 0 and shutil.which("setpriv") is None:
            raise Unavailable(f"{self.product} refuses to run as root, and there is no setpriv")
        self._home = self._unpacked()
        self._java = str(java_home())
        shutil.copytree(self._home / "config", self.directory / "config")
        jvm = self.directory / "config" / "jvm.options"
        lines = jvm.read_text().splitlines(keepends=True)
        jvm.write_text("".join(line for line in lines if "gc.log" not in line and not line.startswith("9-:-Xlog")))
        for name in ("data", "logs"):
            (self.directory / name).mkdir()
        (self.directory / "server.log").touch()
        if os.getuid() == 0:
            for each in [self.directory, *self.directory.rglob("*")]:
                shutil.chown(each, "nobody")

    def _unpacked(self) -> Path:
        archive = fetched(self.archive, self.digest)
        home = cache_directory() / "maven" / archive.stem
        if not home.exists():
            partial = home.with_name(f"{home.name}.{os.getpid()}")
            with zipfile.ZipFile(archive) as file:
                file.extractall(partial)
            (made,) = partial.iterdir()
            for program in (made / "bin").iterdir():
                program.chmod(0o755)
            made.rename(home)
            partial.rmdir()
        for each in (home, *home.parents):  # the user `nobody` reads it
            if not each.stat().st_mode & 0o001 and each.owner() == "root" and os.getuid() == 0:
                return self._copied(home)
        return home

    def _copied(self, home: Path) -> Path:
        """Return a copy of it that others than root can read."""
        copy = self.directory / "home"
        shutil.copytree(home, copy)
        return copy

    def command(self) -> Sequence[str | Path]:
        user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.getuid() == 0 else []
        settings = {
            "http.port": self.port,
            "transport.port": self.ports[1],
            "network.host": "127.0.0.1",
            "discovery.type": "single-node",
            "path.data": self.directory / "data",
            "path.logs": self.directory / "logs",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
        }
        return [*user, self._home / "bin" / self.product, *(f"-E{key}={value}" for key, value in settings.items())]

    def environment(self) -> dict[str, str]:
        heap, config = "-Xms400m -Xmx400m", str(self.directory / "config")
        own = {
            "OPENSEARCH_JAVA_HOME": self._java, "OPENSEARCH_PATH_CONF": config, "OPENSEARCH_JAVA_OPTS": heap,
            "OPENSEARCH_TMPDIR": str(self.directory), "JAVA_HOME": self._java, "ES_PATH_CONF": config,
            "ES_JAVA_OPTS": heap, "ES_TMPDIR": str(self.directory), "HOME": str(self.directory),
        }  # fmt: skip
        return os.environ | own

    def is_ready(self) -> bool:
        try:
            return self.ask("GET", "/_cluster/health")["status"] in ("green", "yellow")
        except (OSError, ValueError):
            return False

    def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Return the answer to a request."""
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: dict[str, object] = json.loads(answer.read())
        return found


class ElasticsearchServer(OpenSearchServer):
    """A node of Elasticsearch 7, the last one under the Apache licence."""

    product = "elasticsearch"
    archive = "org/elasticsearch/distribution/integ-test-zip/elasticsearch/7.10.2/elasticsearch-7.10.2.zip"
    digest = "38a4232a9b8506235c8a2b6a24cdf3732b2c2aa4b8026c89063e038a610c9f4c"
