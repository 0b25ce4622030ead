"""Tables of MongoDB."""
