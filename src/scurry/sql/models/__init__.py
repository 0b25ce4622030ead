"""Models: their providers, which compute the columns that `ML_PREDICT` appends."""
