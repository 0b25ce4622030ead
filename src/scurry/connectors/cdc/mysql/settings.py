"""MySqlSettings: the address of a MySQL or MariaDB server, and the tables that are captured."""

from __future__ import annotations

from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import Startup


@dataclass(frozen=True)
class MySqlSettings:
    """The address of a MySQL or MariaDB server, and the tables that are captured.

    Attributes:
        hostname: The server.
        port: Its port.
        username: The user.
        password: The user's password.
        tables: A regular expression of Java for `database.table`.
        chosen_by: The options that choose the tables, with their values, for messages.
        server_ids: The first and the last number by which readers of the binlog call themselves.
        startup: Start of reading.
        chunk_key: The column by which tables are read in chunks; None for the first one of the primary key.
        fetch_rows: Rows that a reader holds at once.
        connect_seconds: How long the server may take to accept a connection.
        retries: How often a lost connection is made again.
    """

    hostname: str
    port: int
    username: str
    password: str = field(repr=False)
    tables: str
    chosen_by: str
    server_ids: tuple[int, int] = (5400, 6400)
    startup: Startup = Startup()
    chunk_key: str | None = None
    fetch_rows: int = 1024
    connect_seconds: int = 30
    retries: int = 3

    @property
    def shown(self) -> str:
        """Return the address, for messages."""
        return f"{self.hostname}:{self.port}"
