"""The first rows of an order, as they change with further rows."""
