"""The source of files: finds them and assigns parts of them to readers."""
