"""User-defined functions, called for the rows of batches."""
