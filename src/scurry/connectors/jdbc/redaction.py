"""Texts of drivers without the password."""

from __future__ import annotations

import re

from scurry.common.redaction import HIDDEN, without_secrets

__all__ = ["without_password"]


def without_password(text: str, password: str | None, user: str | None) -> str:
    """Return a driver's text without the password of a connection.

    Args:
        text: The text.
        password: The password, None if there is none.
        user: Whose it is; a password that is the user's name is no secret, and hiding it would hide whom the text is
            about.
    """
    text = without_secrets(text)
    if password and password != user:
        text = re.sub(rf"(?<!\w){re.escape(password)}(?!\w)", HIDDEN, text)
    return text
