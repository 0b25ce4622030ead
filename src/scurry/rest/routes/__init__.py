"""The paths of the endpoint, by subject."""
