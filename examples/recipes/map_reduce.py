"""MapReduce: mapper and reducer as they were, in a BATCH job.

The reducer gets a key with all its values, in order: it is a function on a keyed stream that keeps the values in state
until its timer says that the key is complete. The job is the inverted index, of the words of three documents.

Prints:

    be: hamlet*2 macbeth*2
    done: macbeth
    not: hamlet
    or: hamlet
    to: hamlet*2 macbeth
    what: macbeth
    will: macbeth
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from scurry.common import Types
from scurry.datastream import RuntimeExecutionMode, StreamExecutionEnvironment
from scurry.datastream.functions import KeyedProcessFunction
from scurry.datastream.state import ListStateDescriptor

DOCUMENTS = [("hamlet", "to be or not to be"), ("macbeth", "what will be"), ("macbeth", "to be done")]


def mapper(name: str, text: str) -> Iterator[tuple[str, str]]:
    for word in text.split():
        yield word, name


def reducer(word: str, names: Iterable[str]) -> Iterator[str]:
    counts = Counter(names)
    shown = (name if count == 1 else f"{name}*{count}" for name, count in counts.items())
    yield f"{word}: {' '.join(shown)}"


class Reduce(KeyedProcessFunction):
    """Calls a reducer of MapReduce. In BATCH the timers of a key fire behind its last record."""

    def __init__(self, reducer) -> None:
        self.reducer = reducer

    def open(self, runtime_context):
        self.values = runtime_context.get_list_state(ListStateDescriptor("values", Types.PICKLED_BYTE_ARRAY()))

    def process_element(self, pair, ctx):
        self.values.add(pair[1])
        ctx.timer_service().register_event_time_timer(2**63 - 1)

    def on_timer(self, timestamp, ctx):
        yield from self.reducer(ctx.get_current_key(), sorted(self.values.get()))


env = StreamExecutionEnvironment.get_execution_environment()
env.set_runtime_mode(RuntimeExecutionMode.BATCH)
pairs = env.from_collection(DOCUMENTS).flat_map(lambda document: mapper(*document))
with pairs.key_by(lambda pair: pair[0]).process(Reduce(reducer)).execute_and_collect("index") as results:
    print(*sorted(results), sep="\n")
