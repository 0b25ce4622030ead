"""ScurryCredentials: the output of a profile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from dbt.adapters.contracts.connection import Credentials
from dbt_common.exceptions import DbtRuntimeError

MODES = ("batch", "streaming")
#: Options of tables, unless the profile or the model says otherwise, of a catalog whose tables are files.
FILES = {"format": "parquet"}


@dataclass
class ScurryCredentials(Credentials):
    """The place where statements run, and the place of tables.

    Attributes:
        database: The catalog; `catalog` is another name of the option.
        schema: The database of the catalog.
        path: A directory, in which a catalog of type `filesystem` keeps tables, views and rows.
        catalog_options: Options of the catalog instead, as those of CREATE CATALOG. Without it and `path`, a catalog
            of that name is there: the gateway keeps it, or `init_file` creates it.
        table_options: Options of tables, as those of CREATE TABLE.
        url: The gateway, such as `http://127.0.0.1:8083`. Without it and `host`, statements run in dbt's process.
        host: The gateway's host.
        port: The gateway's port.
        token: The gateway's token; by default that of the variable SCURRY_REST_TOKEN.
        tls: Whether the gateway is behind HTTPS.
        mode: Whether models of `streaming_job` are jobs that run on (`streaming`), or end with their input (`batch`).
        job_path: The directory of checkpoints and savepoints of streaming jobs, by default `_jobs` in `path`.
        settings: Settings of the session.
        init_file: A file of statements that are executed first in each session.
        timeout: Seconds that a statement takes at most.
    """

    database: str = "dbt"
    schema: str = "default"
    path: str | None = None
    catalog_options: dict[str, Any] | None = None
    table_options: dict[str, Any] | None = None
    url: str | None = None
    host: str | None = None
    port: int | None = None
    token: str | None = field(default=None, repr=False)
    tls: bool = False
    mode: str = "batch"
    job_path: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    init_file: str | None = None
    timeout: float | None = None

    _ALIASES = {"catalog": "database", "dbname": "database"}

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise DbtRuntimeError(f"`mode` of the profile is batch or streaming, got {self.mode!r}")
        if self.url and self.host:
            raise DbtRuntimeError("the profile names the gateway by `url` or by `host`, not by both")
        if self.port and not self.host:
            raise DbtRuntimeError("`port` of the profile goes with `host`; a `url` has its own")
        if self.url:
            self._check_url(self.url)
        if self.path and self.catalog_options:
            raise DbtRuntimeError(
                "`path` of the profile is that of a catalog of files: name others by `catalog_options`"
            )
        if not (self.path or self.catalog_options or self.init_file or self.endpoint):
            raise DbtRuntimeError(
                "the profile does not say where tables live: `path` names a directory, `catalog_options` another "
                "catalog, `init_file` statements that create it"
            )

    def _check_url(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            sound = parts.scheme in ("http", "https", "scurry", "scurry+gateway") and bool(parts.hostname)
            _, secret = parts.port, parts.password
        except ValueError:
            sound, secret = False, None
        if secret:
            raise DbtRuntimeError("a token in `url` of the profile would be shown: write it as `token`")
        if not sound:
            raise DbtRuntimeError(f"`url` of the profile is that of a gateway, such as http://HOST:8083, got {url!r}")

    @property
    def type(self) -> str:
        return "scurry"

    @property
    def unique_field(self) -> str:
        """Return the text by which dbt's statistics, which hash it, know the place."""
        return self.endpoint or self.path or self.database

    @property
    def endpoint(self) -> str | None:
        """Return the gateway as a URL of `scurry.dbapi`, None for this process."""
        if self.url:
            parts = urlsplit(self.url)
            tls = "?tls=true" if self.tls or parts.scheme == "https" else ""
            return f"scurry://{parts.netloc}{tls}"
        if self.host:
            host = f"[{self.host}]" if ":" in self.host else self.host
            return f"scurry://{host}:{self.port or 8083}{'?tls=true' if self.tls else ''}"
        return None

    @property
    def options_of_tables(self) -> dict[str, str]:
        """Return the options of tables for which a model names no others."""
        if self.table_options is not None:
            return texts(self.table_options)
        return dict(FILES) if self.keeps_files else {}

    @property
    def keeps_files(self) -> bool:
        """Return whether the catalog has the rows of tables as files, of any format."""
        return bool(self.path) or (self.catalog_options or {}).get("type") == "filesystem"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("url", "host", "port", "tls", "database", "schema", "path", "mode", "job_path", "init_file", "timeout")


def texts(options: dict[str, Any]) -> dict[str, str]:
    """Return options as texts, as YAML reads `true` and `5` as other values."""
    return {str(key): str(each).lower() if isinstance(each, bool) else str(each) for key, each in options.items()}
