"""The catalog of type `filesystem`: databases and tables as files that later sessions, and Flink's catalog, read."""
