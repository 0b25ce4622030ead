"""Files as sources and sinks: `reading` and `writing` drive the `formats`, on the file systems of `filesystem`."""
