"""MATCH_RECOGNIZE over blocks of rows: what is kept of rows, conditions, measures, and the automaton between them."""
