"""The implementation of `table.catalog`: names, entries and catalogs."""
