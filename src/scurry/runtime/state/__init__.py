"""Keyed state: pages in a store, a backend that loads the entries that a batch touches, and the public state types."""
