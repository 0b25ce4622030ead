"""The ends of streams: sinks, and results that the program iterates over."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, Self

from scurry.common._api import ApiObject
from scurry.common._type_variables import T, T_co
from scurry.common.job_client import JobClient
from scurry.datastream.data_stream._settings import OperatorSettings

if TYPE_CHECKING:
    from scurry.connectors.collect_sink import CollectedRecords
    from scurry.datastream.data_stream.stream import DataStream
    from scurry.datastream.stream_execution_environment import StreamExecutionEnvironment
    from scurry.graph.nodes import OperatorNode

__all__ = ["CloseableIterator", "DataStreamSink", "collect"]


class DataStreamSink(OperatorSettings):
    """A sink of the job being built, which can be named and configured."""

    def __init__(self, env: StreamExecutionEnvironment, node: OperatorNode) -> None:
        """Wrap a sink node; programs get sinks from `sink_to`, `add_sink` and `print`."""
        self._env = env
        self._node = node


class CloseableIterator(ApiObject, Generic[T_co]):
    """Iterator over the records a job emits while it runs; closing it stops the job.

    Mirrors Flink's `CloseableIterator`. Use it in a `with` statement where the job may be unbounded.
    """

    def __init__(self, client: JobClient, collected: CollectedRecords[T_co]) -> None:
        """Create an iterator over the records of a job; programs call `DataStream.execute_and_collect`.

        Args:
            client: The job.
            collected: The records as the job commits them.
        """
        self._client = client
        self._collected = collected
        self._ready: deque[T_co] = deque()
        self._over = False
        client.get_job_execution_result().add_done_callback(lambda _: collected.end())

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> T_co:
        """Return the next record, waiting for it.

        Raises:
            StopIteration: The job has ended and all its records were returned, or the iterator was closed.
            JobError: The job failed.
        """
        while not self._ready:
            if self._over:
                raise StopIteration
            block = self._collected.take()
            if block is None:
                self._over = True
                self._client.get_job_execution_result().result()
            else:
                self._ready.extend(block)
        return self._ready.popleft()

    def next(self) -> T_co:
        """Return the next record, as `__next__` does."""
        return self.__next__()

    def close(self) -> None:
        """Stop the job, if it still runs, and wait for its end."""
        self._over = True
        self._ready.clear()
        self._collected.end(forget=True)
        if not self._client.get_job_execution_result().done():
            self._client.cancel().result()

    def __enter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        """Close the iterator."""
        self.close()


def collect(stream: DataStream[T], job_name: str | None) -> CloseableIterator[T]:
    """Run the jobs of a stream's environment and return the records of the stream."""
    from scurry.connectors.collect_sink import CollectedRecords, CollectSink

    collected: CollectedRecords[T] = CollectedRecords()
    sink = stream._sink(CollectSink(collected), "Collect")
    if stream._node.uid is not None:  # The program cannot set a uid on this sink, and a job may require all uids.
        sink.uid(f"{stream._node.uid} collected")
    return CloseableIterator(stream._env.execute_async(job_name), collected)
