"""PyFlink's `pyflink.util`: the names of exceptions."""
