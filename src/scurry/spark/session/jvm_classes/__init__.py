"""Classes for the driver's JVM, in Java: compiled once, with the compiler among Spark's jars."""
