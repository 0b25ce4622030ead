"""Apache Pulsar, from Maven Central: 234 MB, and 1.1 GB of memory."""

from __future__ import annotations

import os
import re
import tarfile
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.spark.session.java import java_home
from support.maven import fetched
from support.servers.process import ServerProcess, directory_of

_ARCHIVE = "org/apache/pulsar/pulsar-server-distribution/4.0.8/pulsar-server-distribution-4.0.8-bin.tar.gz"
_DIGEST = "35c7d064c9e0928edbf2e708989faba0379662f98aa84ce0d4190c59efb6765e"


class PulsarServer(ServerProcess):
    """A cluster of one node, which drops messages that come again."""

    needs_ports = 3

    def prepare(self) -> None:
        self._home = _unpacked()
        self._java = str(java_home())
        settings = {
            "brokerServicePort": self.ports[0],
            "webServicePort": self.ports[1],
            "bindAddress": "127.0.0.1",
            "advertisedAddress": "127.0.0.1",
            "brokerDeduplicationEnabled": "true",
            "journalSyncData": "true",  # else what is confirmed is lost with the process
            "managedLedgerDefaultEnsembleSize": 1,
            "managedLedgerDefaultWriteQuorum": 1,
            "managedLedgerDefaultAckQuorum": 1,
        }
        text = (self._home / "conf" / "standalone.conf").read_text()
        for key, value in settings.items():
            text = re.sub(rf"^{key}=.*$", f"{key}={value}", text, flags=re.MULTILINE)
        (self.directory / "standalone.conf").write_text(text)
        (self.directory / "topics").mkdir()

    def command(self) -> Sequence[str | Path]:
        here = self.directory
        places = ["--bookkeeper-dir", str(here / "bookkeeper"), "--metadata-dir", str(here / "metadata")]
        ports = ["--bookkeeper-port", str(self.ports[2]), "--advertised-address", "127.0.0.1", "--num-bookies", "1"]
        return [self._home / "bin" / "pulsar", "standalone", "-nfw", "-nss", *ports, *places]

    def environment(self) -> dict[str, str]:
        return os.environ | {
            "JAVA_HOME": self._java,
            "PULSAR_STANDALONE_CONF": str(self.directory / "standalone.conf"),
            "PULSAR_STANDALONE_USE_ZOOKEEPER": "0",
            "PULSAR_MEM": "-Xms300m -Xmx500m -XX:MaxDirectMemorySize=300m",
            "PULSAR_LOG_DIR": str(self.directory / "log"),
        }

    def is_ready(self) -> bool:
        try:
            self.ask("GET", "persistent/public/default")
        except OSError:
            return False
        return True

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Return the answer of the administration."""
        url = f"http://127.0.0.1:{self.ports[1]}/admin/v2/{path}"
        request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            found: bytes = answer.read()
        return found


def topics_of(port: int) -> Path:
    """Return a directory for what tests note about the topics of a server."""
    return directory_of(port) / "topics"


def _unpacked() -> Path:
    home = cache_directory() / "maven" / "apache-pulsar-4.0.8"
    if not home.exists():
        partial = home.with_name(f"{home.name}.{os.getpid()}")
        with tarfile.open(fetched(_ARCHIVE, _DIGEST)) as archive:
            archive.extractall(partial, filter="data")
        (partial / home.name).rename(home)
        partial.rmdir()
    return home
