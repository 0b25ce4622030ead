"""Faults that scurry had, or nearly had, as changes of its source: what tests for faults are tested with.

A mutant replaces a text in a function. The text has to be there once, so a mutant follows the code or is given up.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

from scurry.testing.simulation import KINDS_OF_STORES, Simulation
from support.simulated import PROGRAMS
from support.simulated.on_spark import SparkSimulation


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Attributes:
        name: What is wrong.
        place: Module and function, with a colon between.
        before: The text that is right.
        after: The text that replaces it.
        job: The program of `scurry.testing.simulation` that shows it.
        kinds: The faults of the schedules that show it; all if there are none.
        on_spark: Whether the job runs on the model of Spark.
        first: The first seed that is tried: few schedules find some of them.
    """

    name: str
    place: str
    before: str
    after: str
    job: str = "counts"
    kinds: tuple[str, ...] = ()
    on_spark: bool = False
    first: int = 0

    def simulation(self) -> Simulation:
        """Return runs of the job, with the faults."""
        kinds = {kind: KINDS_OF_STORES[kind] for kind in self.kinds} or None
        found = (SparkSimulation if self.on_spark else Simulation)(PROGRAMS[self.job](), kinds, records=12)
        found.schedule(0)  # how many operations there are without the fault
        return found

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Let scurry have the fault while a `with` block runs."""
        module_name, _, path = self.place.partition(":")
        module: Any = importlib.import_module(module_name)
        *owners, name = path.split(".")
        owner: Any = module
        for each in owners:
            owner = getattr(owner, each)
        present = inspect.getattr_static(owner, name)
        function = inspect.unwrap(present)
        source = textwrap.dedent(inspect.getsource(function))
        assert source.count(self.before) == 1, f"{self.place} has no one {self.before!r}:\n{source}"
        scope: dict[str, Any] = {}
        exec(compile(source.replace(self.before, self.after), f"<{self.name}>", "exec"), vars(module), scope)
        places = [owner] if owners else [each for each in _modules() if vars(each).get(name) is present]
        with ExitStack() as patches:
            for place in places:
                patches.enter_context(mock.patch.object(place, name, scope[name]))
            yield


def _modules() -> list[ModuleType]:
    """Return the modules of scurry: some have imported a function by its name."""
    return [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "scurry"]


_LOCAL = "scurry.runtime.local"
_LOG = "scurry.connectors.log"
_SPARK = "scurry.spark"

MUTANTS = [
    Mutant(
        "the checkpoint directory is ignored",
        f"{_LOCAL}.runner:LocalRunner._steps",
        "job.plan.settings.checkpoint_dir is not None",
        "job.plan.settings.checkpoint_dir is None",
    ),
    Mutant(
        "sinks commit before the checkpoint is durable",
        f"{_LOCAL}.streaming:LocalEngine.submit",
        "        self._checkpoints.save(self._job, memory.batch_id, stood, memory.stores, output)\n",
        "        self._job.commit_output(memory.batch_id, output, begun)\n"
        "        self._checkpoints.save(self._job, memory.batch_id, stood, memory.stores, output)\n",
    ),
    Mutant(
        "output of the last checkpoint is not committed by the next start",
        f"{_LOCAL}.checkpointed:CheckpointedRun._commit_rest",
        "if rest is not None:",
        "if False:",
    ),
    Mutant(
        "a new generation drops output that is not committed",
        f"{_LOCAL}.database:CheckpointDatabase.replace",
        "if keep_output else []",
        "if False else []",
    ),
    Mutant(
        "state and positions are two transactions",
        f"{_LOCAL}.database:CheckpointDatabase.save",
        "        self._write(job, batch, positions, state, output)\n",
        "        self._connection.execute('COMMIT')\n        self._connection.execute('BEGIN IMMEDIATE')\n"
        "        self._write(job, batch, positions, state, output)\n",
    ),
    Mutant(
        "channels that have ended are forgotten by a restart",
        "scurry.runtime.driver.streaming:StreamingDriver._recover",
        "positions.restored, set(positions.ended)",
        "positions.restored, set()",
    ),
    Mutant(
        "sources begin anew after a change of the parallelism",
        "scurry.runtime.driver.streaming:StreamingDriver._recover",
        "if source.uid in restore.sources:",
        "if False:",
    ),
    Mutant(
        "a checkpoint directory is not locked",
        "scurry.runtime.checkpoint.directory:hold_directory",
        "    job.require_directory = job.cleanup.enter_context(locked(configured, storage, lost))\n",
        "",
        kinds=("second", "kill"),
    ),
    Mutant(
        "a savepoint is lost in a crash of the machine",
        "scurry.runtime.savepoint.reading:complete_savepoint",
        "        force_to_disk(root)\n",
        "        pass\n",
        kinds=("stop", "crash"),
    ),
    Mutant(
        "a reader that ends before another has begun ends time",
        "scurry.runtime.exchange.input_gate:InputGate._waited_for",
        "channel.seen and channel.watermark != MAX_TIME",
        "channel.seen",
        job="joins",
        kinds=("rescale",),
    ),
    Mutant(
        "the note of what is committed is written before the sinks have committed",
        f"{_LOCAL}.streaming:LocalEngine.submit",
        "    self._job.commit_output(memory.batch_id, output, begun)\n",
        "    if self._checkpoints is not None:\n        self._checkpoints.committed()\n"
        "    self._job.commit_output(memory.batch_id, output, begun)\n",
    ),
    Mutant(
        "files of a FileSink are not forced to the disk before a checkpoint counts their records",
        "scurry.connectors.files.writing.sink:_FileWriter.prepare_commit",
        "self._fs.force(path)",
        "pass",
        job="files",
        kinds=("crash",),
    ),
    Mutant(
        "blocks of a log are not forced to the disk before its catalog names them",
        f"{_LOG}.segments:PartitionWriter.close",
        "    os.fsync(self._blocks.fileno())\n",
        "",
        job="log",
        kinds=("crash",),
    ),
    Mutant(
        "records that a log has staged are not forced to the disk",
        f"{_LOG}.sink:_StagingWriter.prepare_commit",
        "    os.fsync(self._file.fileno())\n",
        "",
        job="log",
        kinds=("crash",),
    ),
    Mutant(
        "a log appends a micro-batch again",
        f"{_LOG}.directory:LogDirectory.append",
        "content.note_batch(*batch)",
        "pass",
        job="log",
        kinds=("kill", "fail"),
    ),
    Mutant(
        "a log does not cut what a crash has left behind its end",
        f"{_LOG}.segments:PartitionWriter._open",
        "    self._blocks.truncate(position)\n    self._blocks.seek(position)\n",
        "    self._blocks.seek(0, 2)\n",
        job="log",
        kinds=("kill", "tear", "fail"),
    ),
    Mutant(
        "splits are dealt reader by reader after a change of the parallelism",
        "scurry.connectors.split_queues:SplitQueues.restore",
        "sorted((each for queue in saved for each in queue), key=lambda each: each[0])",
        "[each for queue in saved for each in queue]",
        job="sequence",
        kinds=("rescale",),
    ),
    Mutant(
        "a hybrid source forgets what was dealt when it is restored twice",
        "scurry.connectors.hybrid:_HybridEnumerator.restore",
        'position.get("dealt", position)',
        "position",
        job="hybrid",
        kinds=("rescale", "stop"),
    ),
    Mutant(
        "a database whose opening fails stays locked",
        f"{_LOCAL}.database:CheckpointDatabase.__init__",
        "self._connection.close()",
        "pass",
        kinds=("fail", "full", "kill"),
    ),
    Mutant(
        "a job refuses its own checkpoint directory after a failure of its start",
        f"{_LOCAL}.runner:LocalRunner._steps",
        "if self._directory is None:",
        "if True:",
        kinds=("fail", "full"),
    ),
    Mutant(
        "state with a time to live does not expire",
        "scurry.runtime.state.ttl:_TtlState._live",
        "return expires > self._now()",
        "return True",
        job="expiring",
        kinds=("clock",),
    ),
    Mutant(
        "subtasks do not know when the timers of restored state are due",
        "scurry.runtime.savepoint.restore:distribute_metas",
        "due[group] = min(time, due.get(group, time))",
        "pass",
        job="timers",
        kinds=("rescale", "stop"),
    ),
    Mutant(
        "broadcast state is restored by one subtask",
        "scurry.runtime.savepoint.restore:StateDistributor._targets",
        "[(operator, subtask) for subtask in range(count)]",
        "[(operator, 0)]",
        job="rules",
        kinds=("rescale", "stop"),
    ),
    Mutant(
        "readers that are new to restored state are as far as the latest of before",
        "scurry.runtime.savepoint.restore:Restore._gate",
        "before = [(min(watermark),",
        "before = [(max(watermark),",
        job="windows",
        kinds=("rescale", "stop"),
    ),
    Mutant(
        "calls of async functions are in flight when a checkpoint is made",
        "scurry.runtime.operators.asynchronous:AsyncOperator.drain",
        "self._loop.run(self._calls.end())",
        "pass",
        job="overlapping",
        kinds=("kill",),
    ),
    Mutant(
        "results of async functions come behind the watermark",
        "scurry.runtime.operators.asynchronous:AsyncOperator.watermark",
        "    self.drain()\n",
        "",
        job="enriched",
    ),
    Mutant(
        "files of an attempt that failed stay in the way of the next one",
        "scurry.connectors.files.writing.committer:FileCommitter._give_name",
        "elif self._fs.exists(part.target):",
        "elif False:",
        job="files",
        kinds=("kill", "fail"),
    ),
    Mutant(
        "names that a killed process gave are not forced to the disk by the next one",
        "scurry.connectors.files.writing.committer:FileCommitter._give_name",
        "self._renamed.add(posixpath.dirname(part.target))",
        "pass",
        job="files",
        kinds=("kill", "crash"),
        first=1_800,
    ),
    Mutant(
        "a savepoint that was not complete counts as one",
        "scurry.runtime.local.streaming:LocalEngine.begin_savepoint",
        "        request.future.set_exception(error)\n",
        "        request.future.set_result(request.path)\n",
        kinds=("savepoint", "fail", "full"),
    ),
    Mutant(
        "a source that has ended is read again by the job that goes on from its savepoint",
        "scurry.runtime.driver.streaming:StreamingDriver._positions",
        "set(self._ended)",
        "set()",
        kinds=("kill",),
    ),
    Mutant(
        "output of a batch on Spark is not noted before its sinks commit it",
        f"{_SPARK}.streaming.engine:SparkEngine._commit",
        "if self._job.sinks.are_lasting:",
        "if False:",
        kinds=("kill", "rescale"),
        on_spark=True,
    ),
    Mutant(
        "a batch that a start has committed for its sinks is not committed for Spark",
        f"{_SPARK}.streaming.start:SparkJobStart._commit_prepared",
        "    commit(generation.storage, prepared.batch)\n",
        "",
        kinds=("kill", "rescale"),
        on_spark=True,
    ),
    Mutant(
        "assignments are logged after Spark has seen them",
        f"{_SPARK}.checkpoint.assignment_log:AssignmentLog.write",
        "self._storage.write(self.path(entry.offset), sealed(pickle.dumps(entry, 5)))",
        "early = getattr(self, 'early', None)\n"
        "    self.early = entry\n"
        "    if early is not None:\n"
        "        self._storage.write(self.path(early.offset), sealed(pickle.dumps(early, 5)))",
        kinds=("kill",),
        on_spark=True,
    ),
    Mutant(
        "batches of another generation are counted anew",
        f"{_SPARK}.checkpoint.generations:CheckpointDirectory.begin",
        "before.first_batch + (0 if committed is None else committed + 1)",
        "0",
        kinds=("rescale",),
        on_spark=True,
    ),
    Mutant(
        "operators forget with each micro-batch what watermarks they had",
        "scurry.runtime.tasks.level_task:LevelTask._run",
        "InputGate(edges, state.backend.meta.gate)",
        "InputGate(edges, {})",
    ),
    Mutant(
        "restored operators begin without watermarks",
        "scurry.runtime.savepoint.restore:distribute_metas",
        "Meta(dict(gate), clock)",
        "Meta({}, clock)",
        kinds=("rescale", "stop"),
    ),
    Mutant(
        "what was assigned before kills is read side by side",
        f"{_SPARK}.streaming.assignment_stream:AssignmentStream._next_has_a_shown_channel",
        "return any(",
        "return False and any(",
        job="passed",
        on_spark=True,
    ),
    Mutant(
        "assignments are added to a batch that may have been planned",
        f"{_SPARK}.streaming.assignment_stream:AssignmentStream._show_next",
        "if self._rebuilding or self._given:",
        "if self._rebuilding:",
        job="passed",
        on_spark=True,
        first=2205,
    ),
    Mutant(
        "the end of a batch is neither noted nor forced to the disk before its sinks commit it",
        f"{_SPARK}.checkpoint.prepared:Preparing.note",
        "    noted = PreparedBatch(batch, output, tuple(self._ends.items()))\n"
        "    storage.write(PREPARED, sealed(pickle.dumps(noted, 5)))\n"
        "    storage.force(log)  # which forces the name of the note, too\n",
        "    storage.write(PREPARED, sealed(pickle.dumps(PreparedBatch(batch, output), 5)))\n",
        kinds=("crash",),
        on_spark=True,
    ),
    Mutant(
        "assignments are not forced to the disk before Spark sees them",
        "scurry.runtime.checkpoint.storage:LocalStorage.write",
        "if self._durable:",
        "if False:",
        kinds=("crash",),
        on_spark=True,
    ),
    Mutant(
        "a changed program goes on from what is left of damaged state",
        f"{_SPARK}.streaming.start:SparkJobStart.move",
        "if self._recovery().roll_back_unreadable_state():",
        "if False:",
        job="evolving",
        kinds=("crash", "change"),
        on_spark=True,
    ),
    Mutant(
        "a changed program goes on before batches that were rolled back are computed again",
        f"{_SPARK}.checkpoint.rollback:not_computed_again",
        "return last if last >",
        "return None if last >",
        job="evolving",
        kinds=("crash", "change"),
        on_spark=True,
    ),
    Mutant(
        "a savepoint has the files that a listing shows",
        f"{_LOCAL}.streaming:write_savepoint",
        "drained=drained), written)",
        "drained=drained))",
        job="objects",
        kinds=("savepoint", "stop", "old"),
    ),
    Mutant(
        "a job that fails behind its last savepoint was stopped, although it goes on",
        "scurry.runtime.driver.requests:RequestQueue.attempt_failed",
        "request, self._last = self._last, None",
        "request = None",
        job="log",
        kinds=("stop", "kill", "fail"),
    ),
]
