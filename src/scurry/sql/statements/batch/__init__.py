"""BATCH jobs of statements: their graphs, and the runners that execute them."""
