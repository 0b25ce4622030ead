"""The engine-independent runtime: operators, state, tasks, exchange, savepoints and the driver. Does not use Spark."""
