"""Pipelines: whole databases into other systems, as Flink CDC's YAML describes them."""
