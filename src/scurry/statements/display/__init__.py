"""Results as people see them: texts of values, and tables of them."""
