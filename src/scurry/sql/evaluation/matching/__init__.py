"""MATCH_RECOGNIZE over blocks of rows: buffered columns, conditions, measures, and the automaton between them."""
