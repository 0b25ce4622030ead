"""The in-process runner: the same plan, operators and wire format as on Spark, without a JVM."""
