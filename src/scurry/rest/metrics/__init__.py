"""The metrics of a job as single values, as text of Prometheus, and over time."""
