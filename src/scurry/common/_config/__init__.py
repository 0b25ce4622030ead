"""Configuration keys by topic: their types and defaults, and how given keys are checked."""
