"""The exchange of records between levels: collectors, writers, the wire format and the input gate."""

from __future__ import annotations
