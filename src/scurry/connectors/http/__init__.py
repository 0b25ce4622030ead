"""HTTP: a client that other connectors use."""
