"""The model of the protocol: Spin checks it, and recorded traces with it."""
