"""The Spark session: Java, the JVM's start and its class-data archive."""

from __future__ import annotations
