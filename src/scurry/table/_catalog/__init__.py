"""What is behind `table.catalog`: names, entries, and catalogs."""
