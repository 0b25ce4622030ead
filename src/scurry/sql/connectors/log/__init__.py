"""The connectors `log` and `upsert-log`: tables of topics in a directory."""
