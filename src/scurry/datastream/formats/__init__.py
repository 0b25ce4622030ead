"""File and message formats, under PyFlink's names."""
