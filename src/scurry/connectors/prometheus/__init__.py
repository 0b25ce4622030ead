"""Prometheus: series of samples, by the protocol Remote Write 1.0."""
