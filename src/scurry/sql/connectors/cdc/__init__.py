"""Change data capture as tables."""
