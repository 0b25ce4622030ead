"""Keyed state: pages in a store, a backend that loads what a batch touches, and the state types that users see."""
