"""The connection to a database: address and credentials, and their redaction in the texts of drivers."""

from __future__ import annotations

import re
from dataclasses import field

from scurry._dataclasses import dataclass
from scurry.common.redaction import HIDDEN, without_secrets


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


def without_password(text: str, password: str | None, user: str | None) -> str:
    """Return a driver's text without the password of a connection.

    Args:
        text: The text.
        password: The password, or None.
        user: The user name; a password equal to it is not hidden, because the text needs the user name.
    """
    text = without_secrets(text)
    if password and password != user:
        text = re.sub(rf"(?<!\w){re.escape(password)}(?!\w)", HIDDEN, text)
    return text
