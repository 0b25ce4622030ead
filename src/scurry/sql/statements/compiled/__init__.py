"""Compiled plans: statements as they are executed, kept as JSON so that later versions execute the same."""
