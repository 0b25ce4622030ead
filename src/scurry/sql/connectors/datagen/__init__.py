"""The `datagen` connector: rows that are made up, at random or in sequence."""
