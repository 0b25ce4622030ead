"""Programs that use tables as the pages of Flink's documentation do, page by page.

Each returns a table, or lines. They are written with PyFlink's names only, so that PyFlink and scurry run the same
text: `python -m support.documented_programs FILE` with PyFlink writes what it answers, for
`tests/fixtures/flink_documentation.json`. Left out is what needs a class of Java (`create_java_temporary_function`,
temporal table functions, models), and expressions as texts (`select("a, b")`), which some pages still have, but
PyFlink 2 does not. Metrics of functions are left out, too: they are there in STREAMING only. Catalogs and modules of
Hive need Java, as do procedures, JARs, and the user-defined sources, sinks, functions and modules of their own pages.
"""

from __future__ import annotations

from support.documented_programs import (
    common_api,
    environments,
    functions,
    introduction,
    operations,
    row_based,
    statements,
    streams,
)
from support.documented_programs.registry import PROGRAMS, answer

__all__ = [
    "PROGRAMS",
    "answer",
    "common_api",
    "environments",
    "functions",
    "introduction",
    "operations",
    "row_based",
    "statements",
    "streams",
]
