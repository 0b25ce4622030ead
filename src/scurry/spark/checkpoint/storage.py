"""Store the small files of a checkpoint directory on any file system that Spark can write to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from scurry.runtime.checkpoint.storage import FULL, DamagedFileError, Storage, local_storage_for, storage_full

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Names of unfinished files, as patterns of Hadoop.
_LEFTOVER_GLOB = "{.*.tmp,.savepoint-*}"
#: Levels that are searched on remote storage: not the state's many directories, where leftovers are harmless.
_DEPTH = 2


class HadoopStorage:
    """Store files on any Hadoop file system (hdfs, s3a, gs, abfss...), through Spark's JVM."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._spark = spark
        jvm: Any = spark._jvm
        # looking up a class by its name takes the JVM through all jars, once for each package
        self._new_path, self._to_bytes = jvm.org.apache.hadoop.fs.Path, jvm.org.apache.commons.io.IOUtils.toByteArray
        self._root = self._new_path(root)
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        self._fs = self._root.getFileSystem(configuration)
        checkpointing = jvm.org.apache.spark.sql.execution.streaming.checkpointing
        #: the manager of Spark's own checkpoints, which knows what each file system can do atomically
        self._files = checkpointing.CheckpointFileManager.create(self._root, configuration)

    def _path(self, name: str) -> Any:
        return self._new_path(self._root, name)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        from py4j.protocol import Py4JJavaError

        try:
            stream = self._fs.open(self._path(name))
            try:
                return bytes(self._to_bytes(stream))
            finally:
                stream.close()
        except Py4JJavaError as error:
            kind = error.java_exception.getClass().getSimpleName()
            if kind == "FileNotFoundException":
                raise FileNotFoundError(str(self._path(name).toString())) from error
            if kind in ("ChecksumException", "EOFException"):
                raise DamagedFileError(error.java_exception.getMessage()) from error
            raise

    def write(self, name: str, content: bytes) -> None:
        """Create or replace a file as atomically as the file system can."""
        from py4j.protocol import Py4JJavaError

        path = self._path(name)
        try:
            self._files.mkdirs(path.getParent())
            stream = self._files.createAtomic(path, True)
            try:
                stream.write(content)
            except Py4JJavaError:
                stream.cancel()
                raise
            stream.close()
        except Py4JJavaError as error:
            if any(word in str(error) for word in FULL):
                raise storage_full(self._root.toString()) from error
            raise

    def force(self, name: str) -> None:
        """Do nothing: the store answers when it has a file."""

    def list(self, directory: str) -> list[str]:
        """Return the names in a directory; empty if it does not exist."""
        path = self._path(directory)
        if not self._fs.exists(path):
            return []
        names = (status.getPath().getName() for status in self._fs.listStatus(path))
        return [name for name in names if not name.startswith(".")]

    def delete(self, name: str) -> None:
        """Delete a file, or a directory with its content, if it exists."""
        self._fs.delete(self._path(name), True)

    def sweep(self, deep: bool = True) -> None:
        """Delete unfinished files of killed writers."""
        for depth in range(_DEPTH + 1 if deep else 1):
            for status in self._fs.globStatus(self._path("*/" * depth + _LEFTOVER_GLOB)) or ():
                self._fs.delete(status.getPath(), True)

    def below(self, directory: str) -> HadoopStorage:
        return HadoopStorage(self._spark, self._path(directory).toString())


def storage_for(root: str, session: Callable[[], Any]) -> Storage:
    """Return the storage of a directory, local or remote; only a remote one needs the session."""
    return local_storage_for(root) or HadoopStorage(session(), root)
