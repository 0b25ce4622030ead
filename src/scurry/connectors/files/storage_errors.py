"""Errors for object stores and HDFS that do not answer or deny access."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from scurry.common.redaction import without_secrets
from scurry.errors import StorageAccessError, StorageConnectionError, StorageError

#: s3://key:secret@bucket/path
_USER_INFO = re.compile(r"(?<=://)[^/@]*@")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_REFUSED = re.compile(
    r"access.?denied|forbidden|unauthorized|unauthenticated|permission|signature|invalid.?access.?key|expired.?token|"
    r"status:? 40[13]",
    re.IGNORECASE,
)


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Convert errors of pyarrow and delta-rs about a remote store to errors with advice.

    Args:
        address: The address that is accessed.

    Raises:
        StorageConnectionError: The store does not answer, or the answer is invalid.
        StorageAccessError: The credentials are wrong or insufficient.
    """
    try:
        yield
    except (FileNotFoundError, StorageError):
        raise
    except OSError as error:
        reason = " ".join(_COLOURS.sub("", without_credentials(str(error))).replace("\u21b3", "").split())
        where = without_credentials(address)
        if _REFUSED.search(reason):
            raise StorageAccessError(
                f"{where}: access is refused: {reason}. Check the credentials and what they allow; for S3 these are "
                "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or what an instance's role grants; "
                "for Azure AZURE_STORAGE_ACCOUNT_KEY or AZURE_STORAGE_SAS_TOKEN, or the rights of the identity; for "
                "Google GOOGLE_APPLICATION_CREDENTIALS, or the rights of the service account"
            ) from None
        raise StorageConnectionError(
            f"{where} cannot be reached: {reason}. Check the address, the region and the endpoint (for S3 AWS_REGION "
            "and AWS_ENDPOINT_URL, for Azure the account, for Google GOOGLE_APPLICATION_CREDENTIALS), here and on all "
            "workers"
        ) from None


def without_credentials(text: str) -> str:
    """Remove user and password from the addresses in a text, and hide other secrets, such as signatures."""
    return without_secrets(_USER_INFO.sub("", text))
