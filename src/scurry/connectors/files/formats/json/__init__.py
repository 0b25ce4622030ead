"""JSON: values of records and of columns as JSON, and back."""
