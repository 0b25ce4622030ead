"""A function learns how often its job was restarted; the strategy decides how often that is."""

# modes: streaming batch
# timeout: 240
from __future__ import annotations

from pyflink.common import Configuration
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class OpensLate(MapFunction):
    def __init__(self, attempts):
        self.attempts = attempts

    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()
        if self.attempt < self.attempts:
            raise ValueError("not yet")

    def map(self, value):
        return "%s after %s restarts" % (value, self.attempt)


def run(name, failing, **settings):
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", name)
    for key, value in settings.items():
        configuration.set_string("restart-strategy.%s.%s" % (name, key.replace("_", "-")), value)
    env = StreamExecutionEnvironment.get_execution_environment()
    env.configure(configuration)
    env.from_collection(["a", "b"]).map(OpensLate(failing)).print()
    try:
        env.execute()
        print(name, failing, "finished")
    except Exception as error:
        print(name, failing, "failed", "not yet" in str(error))


run("fixed-delay", 2, attempts="2", delay="10 ms")
run("fixed-delay", 3, attempts="2", delay="10 ms")
run("failure-rate", 3, max_failures_per_interval="3", failure_rate_interval="1 h", delay="10 ms")
run("failure-rate", 3, max_failures_per_interval="2", failure_rate_interval="1 h", delay="10 ms")
run("exponential-delay", 2, initial_backoff="10 ms", max_backoff="20 ms")
run("exponential-delay", 2, initial_backoff="10 ms", max_backoff="20 ms", attempts_before_reset_backoff="1")
run("none", 1)
