"""Searches of the vectors that are nearest to others: their contract, and an index in memory."""
