"""Delete savepoints."""

from __future__ import annotations

import contextlib
import os
import posixpath

from scurry.connectors.files.filesystem import file_system, local_path
from scurry.errors import SavepointError, SavepointNotFoundError, StorageError
from scurry.runtime.savepoint.manifest import MANIFEST, Manifest
from scurry.runtime.savepoint.trust import trusted_files


def dispose_savepoint(path: str) -> None:
    """Delete the files of a savepoint that its manifest names, and its directories if nothing else is in them.

    Args:
        path: Its directory or URI.

    Raises:
        SavepointNotFoundError: There is no savepoint with a manifest.
        SavepointFormatError: The manifest is damaged.
        SavepointTrustError: Another user could have written it: what it names may be anything.
        StorageError: The storage cannot be reached.
    """
    try:
        with trusted_files(path, False) as (fs, root), fs.open_input(posixpath.join(root, MANIFEST)) as stream:
            manifest = Manifest.from_json(stream.read(), path)
    except (SavepointError, StorageError):
        raise
    except OSError as error:
        raise SavepointNotFoundError(f"{path} is no savepoint: {MANIFEST}: {error.strerror or error}") from None
    fs, root = file_system(path)
    # The manifest last: until then it is known what is still to be deleted.
    for name in [*manifest.files, MANIFEST]:
        fs.delete(posixpath.join(root, name))
    if (directory := local_path(path)) is not None:
        _remove_empty(directory, list(manifest.files))


def _remove_empty(root: str, names: list[str]) -> None:
    parents = {""}
    for name in names:
        while name := posixpath.dirname(name):
            parents.add(name)
    for parent in sorted(parents, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something else is in it
            os.rmdir(os.path.join(root, parent))
