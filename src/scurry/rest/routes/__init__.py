"""The request handlers of the endpoint, by subject."""
