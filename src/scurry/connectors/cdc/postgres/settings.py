"""PostgresSettings: the address of a PostgreSQL server, and the tables that are captured."""

from __future__ import annotations

from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.connectors.cdc.capture import Startup
from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.connectors.jdbc.postgres import Postgres


@dataclass(frozen=True)
class PostgresSettings:
    """The address of a PostgreSQL server, and the tables that are captured.

    Attributes:
        hostname: The server.
        port: Its port.
        username: The user.
        password: The user's password.
        database: The database.
        tables: A regular expression of Java for `schema.table`.
        chosen_by: The options that choose the tables, with their values, for messages.
        slot: Name of the replication slot.
        publication: Name of the publication.
        makes_publication: Whether the publication is made, and tables are added to it.
        drops_slot: Whether the slot is dropped when the job ends.
        startup: Start of reading.
        needs_before: Whether updates need the row before.
        gives_before: Whether updates give the row before where the log has it.
        chunk_rows: Rows of a chunk.
        chunk_key: The column by which tables are read in chunks; None for the first one of the primary key.
        fetch_rows: Rows that a reader holds at once.
        connect_seconds: How long the server may take to accept a connection.
        retries: How often a lost connection is made again.
        partitioned: Whether partitioned tables are read by their root.
    """

    hostname: str
    port: int
    username: str
    password: str = field(repr=False)
    database: str
    tables: str
    chosen_by: str
    slot: str
    publication: str = "dbz_publication"
    makes_publication: bool = True
    drops_slot: bool = False
    startup: Startup = Startup()
    needs_before: bool = True
    chunk_rows: int = 8096
    chunk_key: str | None = None
    fetch_rows: int = 1024
    connect_seconds: int = 30
    retries: int = 3
    partitioned: bool = False
    gives_before: bool = False

    @property
    def server(self) -> Postgres:
        """Return the server."""
        host = f"[{self.hostname}]" if ":" in self.hostname else self.hostname
        url = f"jdbc:postgresql://{host}:{self.port}/{self.database}?connectTimeout={self.connect_seconds}"
        return Postgres(JdbcConnectionOptions(url, None, self.username, self.password))
