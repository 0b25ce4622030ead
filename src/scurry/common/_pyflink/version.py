"""The module behind ``pyflink.version``: the version of PyFlink whose API scurry follows."""

from __future__ import annotations

__version__ = "2.3.0"
