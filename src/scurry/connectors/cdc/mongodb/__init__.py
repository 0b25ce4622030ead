"""Changes of MongoDB, by change streams."""
