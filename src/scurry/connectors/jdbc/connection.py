"""Connection: the address and credentials of a database."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["Connection"]


@dataclass(frozen=True)
class Connection:
    """The address and credentials of a database.

    Its text contains neither the password nor the URL's parameters.
    """

    _url: str = field(repr=False)
    _driver_name: str | None = field(default=None, repr=False)
    _user_name: str | None = field(default=None, repr=False)
    _password: str | None = field(default=None, repr=False)
    creation: str = field(default="", repr=False, kw_only=True)
    """The statement that makes the table which is written, for the hint where there is none."""

    def __repr__(self) -> str:
        """Return for example `JdbcConnectionOptions(jdbc:postgresql://host/db as 'ann')`."""
        user = "" if self._user_name is None else f" as {self._user_name!r}"
        return f"{type(self).__name__}({self.shown_url}{user})"

    @property
    def shown_url(self) -> str:
        """The URL for errors and logs: without parameters, some of which are secret."""
        # A password may contain unencoded @, / and ?; a port ends with one of the latter two.
        url = re.sub(r"//[^/@:?]*:(?!\d+(?:[/?,]|$))\S*@", "//", self._url)
        return re.sub(r"//[^/@]*@", "//", url.partition("?")[0])

    def get_db_url(self) -> str:
        """Return the JDBC URL."""
        return self._url

    def get_driver_name(self) -> str | None:
        """Return the class name of the JDBC driver, None if it was not given."""
        return self._driver_name

    def get_user_name(self) -> str | None:
        """Return the user, None if it was not given."""
        return self._user_name

    def get_password(self) -> str | None:
        """Return the password, None if it was not given."""
        return self._password
