"""Read the file of a form, as browsers and Flink's clients upload it."""

from __future__ import annotations

import re

from fastapi import HTTPException

_BOUNDARY = re.compile(r'multipart/form-data;.*\bboundary="?([^";]{1,70})"?', re.IGNORECASE)
_FILE_NAME = re.compile(rb'^content-disposition:.*\bfilename="?([^";\r\n]+)"?', re.IGNORECASE | re.MULTILINE)


def uploaded_file(content_type: str, body: bytes) -> tuple[str, bytes]:
    """Return name and content of the first file of a form.

    Args:
        content_type: The header of the request, which has the boundary of the parts.
        body: The body of the request.

    Raises:
        HTTPException: It is no form, or has no file.
    """
    boundary = _BOUNDARY.match(content_type)
    if boundary is None:
        raise HTTPException(400, "send the program as a file of a form: curl -F jarfile=@program.py")
    delimiter = b"\r\n--" + boundary[1].encode()
    for part in (b"\r\n" + body).split(delimiter)[1:]:
        head, separator, content = part.partition(b"\r\n\r\n")
        name = _FILE_NAME.search(head)
        if separator and name is not None:
            return name[1].decode(errors="replace"), content
    raise HTTPException(400, "the form has no file: curl -F jarfile=@program.py")
