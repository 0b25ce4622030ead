"""Tables of ClickHouse, over its HTTP interface: rows are columns of Arrow there and back."""
