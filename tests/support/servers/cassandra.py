"""Cassandra, whose files Maven fetches."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from scurry.common._process.directories import cache_directory
from scurry.spark.session.java import java_home
from support.servers.debian import Unavailable
from support.servers.process import ServerProcess

VERSION = "5.0.9"
_POM = f"""<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId>
<version>1</version><dependencies><dependency><groupId>org.apache.cassandra</groupId>
<artifactId>cassandra-all</artifactId><version>{VERSION}</version></dependency></dependencies></project>"""
#: Packages of Java that Cassandra reaches into.
_OPENED = """
java.base/java.lang java.base/java.lang.module java.base/java.io java.base/java.net java.base/java.nio
java.base/java.util java.base/java.util.concurrent java.base/java.util.concurrent.atomic java.base/jdk.internal.loader
java.base/jdk.internal.ref java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
java.base/jdk.internal.util.jar java.base/sun.nio.ch java.management/com.sun.jmx.remote.security
java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry java.rmi/sun.rmi.server
java.rmi/sun.rmi.transport.tcp java.sql/java.sql jdk.management/com.sun.management.internal
java.logging/java.util.logging
"""


class CassandraServer(ServerProcess):
    """A node that keeps everything it has confirmed over `kill`; it takes about a gigabyte."""

    needs_ports = 3

    def prepare(self) -> None:
        self._jars = _fetched()
        self._java = java_home()
        directory = self.directory
        (directory / "cassandra.yaml").write_text(
            f"""
cluster_name: t
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
commitlog_sync: batch
commitlog_directory: {directory}/commitlog
data_file_directories: [{directory}/data]
saved_caches_directory: {directory}/caches
hints_directory: {directory}/hints
cdc_raw_directory: {directory}/cdc
endpoint_snitch: SimpleSnitch
listen_address: 127.0.0.1
rpc_address: 127.0.0.1
storage_port: {self.ports[1]}
native_transport_port: {self.port}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "127.0.0.1:{self.ports[1]}"}}]
"""
        )

    def command(self) -> Sequence[str | Path]:
        opened = [f"--add-{kind}={each}=ALL-UNNAMED" for each in _OPENED.split() for kind in ("opens", "exports")]
        settings = {
            "cassandra.config": f"file://{self.directory}/cassandra.yaml",
            "cassandra.storagedir": self.directory,
            "cassandra-foreground": "yes",
            "cassandra.skip_wait_for_gossip_to_settle": 0,
            "cassandra.ring_delay_ms": 1,
            "cassandra.jmx.local.port": self.ports[2],
            "jdk.attach.allowAttachSelf": "true",
        }
        memory = ["-Xms512m", "-Xmx512m", "-XX:+UseG1GC", "-Xss512k"]
        properties = [f"-D{key}={value}" for key, value in settings.items()]
        main = "org.apache.cassandra.service.CassandraDaemon"
        return [self._java / "bin" / "java", *opened, *memory, *properties, "-cp", f"{self._jars}/*", main]


def _fetched() -> Path:
    jars = cache_directory() / f"cassandra-{VERSION}"
    if jars.exists():
        return jars
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("Cassandra's files are fetched by mvn, which is not installed: apt-get install maven")
    project = jars.with_name(f"{jars.name}.{os.getpid()}")
    project.mkdir(parents=True)
    (project / "pom.xml").write_text(_POM)
    command = [maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={project}/jars"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True)
    if done.returncode:
        shutil.rmtree(project)
        raise Unavailable(f"Cassandra's files cannot be fetched: {done.stdout[-500:]}")
    (project / "jars").rename(jars)
    shutil.rmtree(project)
    return jars
