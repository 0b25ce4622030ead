"""Redaction of passwords in the texts of drivers."""

from __future__ import annotations

import re

from scurry.common.redaction import HIDDEN, without_secrets

__all__ = ["without_password"]


def without_password(text: str, password: str | None, user: str | None) -> str:
    """Return a driver's text without the password of a connection.

    Args:
        text: The text.
        password: The password, None if there is none.
        user: The user name; a password equal to it is not hidden, because the text needs the user name.
    """
    text = without_secrets(text)
    if password and password != user:
        text = re.sub(rf"(?<!\w){re.escape(password)}(?!\w)", HIDDEN, text)
    return text
