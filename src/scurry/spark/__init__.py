"""Run plans on Apache Spark; the only package that imports pyspark."""
