"""Physical nodes of STREAMING plans: the operators of Flink that differ from logical operations."""
