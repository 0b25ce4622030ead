"""The implementation of `table.expressions`: its functions by subject."""
