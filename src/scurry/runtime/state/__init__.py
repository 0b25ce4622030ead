"""Keyed state: pages in a store, a backend that loads what is touched, and the state primitives users see."""
