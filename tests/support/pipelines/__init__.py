"""What the tests of pipelines share."""
