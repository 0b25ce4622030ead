"""Set up the Spark session: Java, the start of the JVM and its class-data archive."""

from __future__ import annotations
