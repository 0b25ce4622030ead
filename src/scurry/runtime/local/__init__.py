"""The in-process runner: the same plan, operators and wire as on Spark, without a JVM."""
