"""Physical nodes of STREAMING plans: operations that Flink knows beside the logical ones, by family."""
