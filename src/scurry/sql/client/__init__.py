"""The SQL client, `scurry sql`: scripts, and an interactive terminal.

`executor` is the seam: statements run in this process (`embedded`) or a gateway (`remote`). `client` executes what is
written or typed; `results` and `views` show answers; `terminal` reads lines, and is the only module that loads
prompt_toolkit.
"""
