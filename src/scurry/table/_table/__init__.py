"""The implementation of `table.table`: the methods of a table by subject."""
