"""Functions of users: what they are, and what they are opened with."""
