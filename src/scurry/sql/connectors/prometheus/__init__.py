"""Tables of Prometheus."""
