"""Tables over HTTP: lookups, and sinks of requests."""
