"""Unpack archives, and pack the files for workers into one."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from scurry.errors import DependencyError

#: The times in a bundle's zip file, which must not depend on when it is made.
_SOME_TIME = (1980, 1, 1, 0, 0, 0)


def unpack(archive: Path, target: Path) -> None:
    """Unpack a zip or tar archive into a directory, which is created, and keep execute permissions.

    Raises:
        DependencyError: The archive is damaged, or names files outside of the directory.
    """
    target.mkdir(parents=True, exist_ok=True)
    try:
        if archive.name.endswith((".tar", ".tar.gz", ".tgz")):
            with tarfile.open(archive) as tar:
                tar.extractall(target, filter="tar")
        else:
            with zipfile.ZipFile(archive) as packed:
                for info in packed.infolist():
                    written = packed.extract(info, target)
                    mode = info.external_attr >> 16 & 0o777
                    if mode and not info.is_dir():
                        os.chmod(written, mode | 0o600)
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError) as error:
        raise DependencyError(f"{archive} cannot be unpacked: {error}") from error


def unpacked_once(archive: Path, target: Path) -> Path:
    """Unpack an archive unless another process has done so; several may try at once.

    Returns:
        The complete directory.
    """
    if not target.exists():
        temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            unpack(archive, temporary)
            temporary.rename(target)
        except OSError:
            if not target.exists():
                raise
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    return target


def pack(files: Mapping[str, Path], directory: Path) -> Path:
    """Write a zip file named by a digest of its content, so that equal bundles are equal files.

    Args:
        files: Name in the zip file -> file.
        directory: Where to write it.
    """
    digest = digest_of(files)
    path = directory / f"scurry-{digest}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, file in sorted(files.items()):
            info = zipfile.ZipInfo(name, _SOME_TIME)
            info.external_attr = (file.stat().st_mode & 0o777) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, file.read_bytes())
    return path


def digest_of(files: Mapping[str, Path]) -> str:
    """Return a digest of the names and contents of files."""
    digest = hashlib.sha256()
    for name, file in sorted(files.items()):
        content = hashlib.sha256()
        with open(file, "rb") as stream:
            for block in iter(lambda: stream.read(1 << 20), b""):  # noqa: B023
                content.update(block)
        digest.update(f"{name}\0{content.hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def files_below(directory: Path) -> dict[str, Path]:
    """Return the files below a directory by their relative names, in order, without byte code and hidden directories.

    Raises:
        DependencyError: A directory cannot be listed, whose files workers would miss.
    """
    found = {}
    for parent, directories, files in os.walk(directory, onerror=_unlisted, followlinks=True):
        directories[:] = sorted(d for d in directories if d != "__pycache__" and not d.startswith("."))
        for name in sorted(files):
            path = Path(parent, name)
            if not name.endswith(".pyc") and path.is_file():
                found[str(path.relative_to(directory))] = path
    return found


def _unlisted(error: OSError) -> None:
    if isinstance(error, FileNotFoundError):
        return  # it has been removed meanwhile
    raise DependencyError(f"{error.filename} cannot be listed, so its files are not sent to workers: {error.strerror}")
