"""Windows in STREAMING."""
