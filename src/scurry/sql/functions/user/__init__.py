"""Functions of users: their definitions, and the contexts they are opened with."""
