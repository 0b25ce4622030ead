"""Buckets of Google Cloud Storage as file systems of pyarrow."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

from scurry.errors import UnsupportedError

#: Schemes of addresses, `scheme://bucket/path`.
SCHEMES = ("gs", "gcs")
#: As Google's clients have it: where an emulator is, whom no user has to be named.
EMULATOR = "STORAGE_EMULATOR_HOST"
#: Seconds after which a request is not repeated again, by pauses of 1, 2, ... s: at most 4 s pass. Google's client
#: itself would repeat it for 15 minutes.
RETRY_SECONDS = 2


def gcs_file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path within it, which begins with the bucket.

    Credentials are those that Google's clients find: `GOOGLE_APPLICATION_CREDENTIALS`, the login of gcloud, or the
    machine's service account; none for `gs://anonymous@bucket/path`.

    Raises:
        UnsupportedError: The address is none.
    """
    from pyarrow import fs

    parts = urlsplit(address)
    given = {"retry_limit_seconds": [str(RETRY_SECONDS)]}
    host, emulator = parts.netloc, os.environ.get(EMULATOR)
    if emulator:
        url = urlsplit(emulator if "://" in emulator else f"http://{emulator}")
        given |= {"scheme": [url.scheme], "endpoint_override": [url.netloc]}
        host = f"anonymous@{host.rpartition('@')[2]}"
    query = urlencode(given | parse_qs(parts.query), doseq=True)
    try:
        found, inner = fs.FileSystem.from_uri(urlunsplit(("gs", host, parts.path, query, "")))
    except (OSError, ValueError) as error:
        raise UnsupportedError(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}: {error}") from None
    return found, inner
