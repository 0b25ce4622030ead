"""The `filesystem` connector: directories of files, partitioned by the names of directories."""
