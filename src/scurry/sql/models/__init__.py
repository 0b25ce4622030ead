"""Models: their providers, which compute what `ML_PREDICT` returns."""
