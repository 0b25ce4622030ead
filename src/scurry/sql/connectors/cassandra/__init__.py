"""Tables of Cassandra."""
