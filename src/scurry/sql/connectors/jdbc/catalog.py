"""The catalog `jdbc`: the databases and tables of a PostgreSQL or MySQL server."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.connectors.jdbc.options import JdbcConnectionOptions
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.catalog import Catalog
from scurry.sql.catalog.table_options import Options, TableOption, refuse_unsupported
from scurry.sql.connectors.jdbc.mysql_catalog import MySqlCatalog
from scurry.sql.connectors.jdbc.postgres_catalog import PostgresCatalog
from scurry.sql.connectors.jdbc.server_catalog import JdbcCatalog

BASE_URL = TableOption("base-url", str, None, "The URL of the server, without a database.", required=True)
DEFAULT_DATABASE = TableOption("default-database", str, None, "The database that is current.", required=True)
USERNAME = TableOption("username", str, None, "The user.", required=True)
PASSWORD = TableOption("password", str, None, "The user's password.", required=True)
COMPATIBLE_MODE = TableOption("compatible-mode", str, None, "Refused: the databases here have one mode.")
OPTIONS = (
    BASE_URL,
    DEFAULT_DATABASE,
    USERNAME,
    PASSWORD,
    COMPATIBLE_MODE,
)


def create_catalog(name: str, values: Mapping[str, str]) -> Catalog:
    """Return the catalog that CREATE CATALOG describes.

    Args:
        values: The options, `type` among them.

    Raises:
        ValidationError: An option is missing, unknown or wrong.
    """
    options = Options(values)
    options.check(OPTIONS)
    refuse_unsupported("jdbc", values, {"type", "property-version", *(option.key for option in OPTIONS)})
    if options.find(COMPATIBLE_MODE):
        raise UnsupportedError(
            f"'{COMPATIBLE_MODE.key}' of a catalog: the databases here have one mode; leave the option out"
        )
    url = options.get(BASE_URL).rstrip("/")
    kinds: dict[str, type[JdbcCatalog]] = {
        "jdbc:postgresql:": PostgresCatalog,
        "jdbc:mysql:": MySqlCatalog,
        "jdbc:mariadb:": MySqlCatalog,
    }
    for prefix, kind in kinds.items():
        if url.startswith(prefix):
            return kind(name, options.get(DEFAULT_DATABASE), options.get(USERNAME), options.get(PASSWORD), url)
    shown = JdbcConnectionOptions(url).shown_url
    raise ValidationError(
        f"'{BASE_URL.key}' of a catalog of type 'jdbc' is {' or '.join(f'{prefix}//host:port' for prefix in kinds)}, "
        f"not {shown}"
    )
