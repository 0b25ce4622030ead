"""SQL and tables, from text to operators: statements become plans, and plans become jobs.

In notebooks, `%load_ext scurry.sql` adds cells that begin with `%%scurry_sql`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["load_ipython_extension"]


def load_ipython_extension(shell: Any) -> None:
    """Add the magic `%%scurry_sql` to a notebook.

    Args:
        shell: IPython's shell.
    """
    from scurry.sql.client.cells import add_magic

    add_magic(shell)
