"""MongoDB's protocol by mongo-java-server, in memory and with change streams; from Maven Central."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from scurry.spark.session.java import java_home
from support.maven import fetched
from support.servers.process import ServerProcess

#: Group, name, version and SHA-256 of each file.
JARS = """
de/bwaldvogel mongo-java-server-core 1.47.0 9a34c9ad6ac6261906295481838256033ec1efc8c93a3e3828e5d47a006b0bd4
de/bwaldvogel mongo-java-server-memory-backend 1.47.0 82864f8a2ede1514f64c2cd3a70e8022c259eb3d78975cfa208c1668ac1f12bb
de/bwaldvogel mongo-java-server 1.47.0 37fc487ab0ef924dee0acdc62e2de1ef1daffa7eb2fdf9b56e5d2f3bdc2b909b
io/netty netty-buffer 4.2.2.Final 4820eeb2d3db269b20b30711e3d7d21979664249aaf10fc67f90dee935810747
io/netty netty-codec-base 4.2.2.Final 76987614ccb2fda7d3292b69ba5b61351f30e91bf5c7d8fa4b51bc32c9f67456
io/netty netty-codec-compression 4.2.2.Final 005734e20aceb5e2c030033f7e042c81ee444497efd110cfca8de445642652ac
io/netty netty-codec-marshalling 4.2.2.Final ae8bb7a077ca02357c922e3abc1acf1bf191d5e2776721d69cbca50a16281096
io/netty netty-codec-protobuf 4.2.2.Final cfe0c7e6e68d83480a639b533eb7edaaf3252cfae8b73d0e362859673a4f9d97
io/netty netty-codec 4.2.2.Final 6a4ea3cedc831a377e20e32da5df4d2a47b954810e941138e3358e313db3a7f9
io/netty netty-common 4.2.2.Final 5d022f3acad74cb0f195f60213500a4000d1340e5e941edaf1a0e756686b9bae
io/netty netty-handler 4.2.2.Final d4ef582c78125457baa0cfa52992b5fb1bb9172d1a2c03b726e8b26e17d3fe2c
io/netty netty-resolver 4.2.2.Final fa7841ffe2e39d52251814fb8560d6936b10ae7c67453ee50426b83fd5170ba0
io/netty netty-transport-native-unix-common 4.2.2.Final aa8821a7ea2ca47f62740bd1f37d67deb97824cc77e76dde6ae2c439a923fc9d
io/netty netty-transport 4.2.2.Final 116d766a1af4722fe76a4cdaed969644985d44e08ec1337d2dbab697dd109603
org/slf4j slf4j-api 2.0.17 7b751d952061954d5abfed7181c1f645d336091b679891591d63329c622eb832
"""
#: Clients want a newer wire version than the server says it has.
MAIN = """
import de.bwaldvogel.mongo.*; import de.bwaldvogel.mongo.backend.memory.MemoryBackend; import java.util.List;
public class Main { public static void main(String[] a) throws Exception {
  MongoVersion v = new MongoVersion() {
    public List<Integer> getVersionArray() { return List.of(4, 4, 0); } public int getWireVersion() { return 9; } };
  MongoServer s = new MongoServer(new MemoryBackend().version(v)); s.enableOplog();
  s.bind("127.0.0.1", Integer.parseInt(a[0])); Thread.currentThread().join(); } }
"""


class MongoServer(ServerProcess):
    """A server that forgets its documents when it is killed."""

    @property
    def uri(self) -> str:
        return f"mongodb://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        jars = self.directory / "jars"
        jars.mkdir()
        for group, name, version, digest in map(str.split, JARS.strip().splitlines()):
            shutil.copy(fetched(f"{group}/{name}/{version}/{name}-{version}.jar", digest), jars)
        (self.directory / "Main.java").write_text(MAIN)
        self._java = java_home()

    def command(self) -> Sequence[str | Path]:
        java: list[str | Path] = [
            self._java / "bin" / "java",
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
        ]
        return [*java, "-cp", f"{self.directory}/jars/*", self.directory / "Main.java", str(self.port)]

    def environment(self) -> dict[str, str]:
        return os.environ | {"JAVA_HOME": str(self._java)}
