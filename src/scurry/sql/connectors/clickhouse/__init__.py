"""The connector `clickhouse`."""
