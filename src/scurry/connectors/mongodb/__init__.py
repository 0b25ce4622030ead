"""MongoDB: documents by ranges of their ids, bulk writes, changes."""
