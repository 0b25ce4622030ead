"""What statements do: definitions change catalogs, SHOW and DESCRIBE list them, queries and insertions become jobs."""
