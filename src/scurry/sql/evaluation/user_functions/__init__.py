"""Functions of users, called for the rows of batches."""
