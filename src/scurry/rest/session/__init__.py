"""The endpoint of a session: it lists jobs, forwards requests to them, and takes uploaded programs."""
