"""Groups of rows aggregated in STREAMING, with a change for every row."""
