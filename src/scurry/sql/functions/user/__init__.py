"""User-defined functions: their definitions, and the contexts they are opened with."""
