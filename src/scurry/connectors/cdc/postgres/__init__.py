"""Changes of PostgreSQL, by logical decoding with pgoutput."""
