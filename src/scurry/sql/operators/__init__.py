"""STREAMING: relational plans as nodes of a job graph, whose records are batches of rows (`Changes`)."""
