"""The endpoint of a session: its jobs in Flink's lists, requests about one job handed on to it, programs uploaded."""
