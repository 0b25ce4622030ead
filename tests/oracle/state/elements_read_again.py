"""What a list state returns can be read again: it sees later additions, and stays when the state is cleared."""

# parallelism: 1
# modes: streaming batch
# timeout: 400
from __future__ import annotations

from pyflink.common import Types
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Sums(KeyedProcessFunction):
    def open(self, runtime_context):
        self.numbers = runtime_context.get_list_state(ListStateDescriptor("numbers", Types.LONG()))

    def process_element(self, value, ctx):
        numbers = self.numbers.get()
        before = sum(numbers)
        self.numbers.add(value[1])
        yield "%s: %d, then %d of %s" % (value[0], before, sum(numbers), list(numbers))
        if sum(numbers) > 5:
            self.numbers.clear()
            yield "%s: cleared %s" % (value[0], list(numbers))
            self.numbers.update([0])
            yield "%s: updated %s, %s" % (value[0], list(numbers), list(self.numbers.get()))
        yield "%s: %s" % (value[0], bool(self.numbers.get()))


env = StreamExecutionEnvironment.get_execution_environment()
pair = Types.TUPLE([Types.STRING(), Types.LONG()])
env.from_collection([("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 1), ("a", 5)], type_info=pair).key_by(
    lambda value: value[0], key_type=Types.STRING()
).process(Sums(), output_type=Types.STRING()).print()
env.execute()
