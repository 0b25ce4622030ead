"""Records of streams as rows of tables, and rows as records."""
