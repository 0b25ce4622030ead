"""Path patterns: `*`, `?`, `[abc]`, `{a,b}` within a name, `**` for any number of directories."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from scurry.connectors.files.filesystem import FileSystem, hidden
from scurry.errors import ArgumentError, SourceNotFoundError

_SPECIAL = re.compile(r"[*?\[{]")


def is_pattern(path: str) -> bool:
    """Return whether a path contains a pattern character."""
    return _SPECIAL.search(path) is not None


def expand(fs: FileSystem, path: str, must_exist: bool) -> list[str]:
    """Return the path itself if it exists or is not a pattern, else the files and directories that match it.

    Wildcards do not match names that begin with `.` or `_`, unless the pattern begins with that character.

    Args:
        fs: The file system.
        path: A path within it.
        must_exist: Whether it is an error if a pattern matches nothing.

    Raises:
        ArgumentError: The pattern is malformed.
        SourceNotFoundError: The pattern matches nothing.
    """
    if not is_pattern(path) or fs.exists(path):
        return [path]
    parts = path.split("/")
    first = next(i for i, part in enumerate(parts) if is_pattern(part))
    found = sorted(set(_matches(fs, "/".join(parts[:first]) or "/", parts[first:])))
    if not found and must_exist:
        raise SourceNotFoundError(f"no file or directory matches {path}; check the pattern given to the FileSource")
    return found


def _matches(fs: FileSystem, directory: str, parts: list[str]) -> Iterator[str]:
    part, rest = parts[0], parts[1:]
    if not is_pattern(part):
        path = posixpath.join(directory, part)
        if rest:
            yield from _matches(fs, path, rest)
        elif fs.exists(path):
            yield path
        return
    if part == "**" and rest:
        yield from _matches(fs, directory, rest)
    match = re.compile(translated(part)).fullmatch
    for name, is_directory in fs.entries(directory):
        path = posixpath.join(directory, name)
        if part == "**":
            if is_directory and not hidden(name):
                yield from _matches(fs, path, parts)
            elif not rest and not is_directory and not hidden(name):
                yield path
        elif match(name) and (not hidden(name) or part[0] == name[0]):
            if not rest:
                yield path
            elif is_directory:
                yield from _matches(fs, path, rest)


def translated(pattern: str) -> str:
    """Translate the pattern of a name to a regular expression.

    Raises:
        ArgumentError: A bracket or brace is not closed.
    """
    out, i, depth = "", 0, 0
    while i < len(pattern):
        char = pattern[i]
        i += 1
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[":
            end = pattern.find("]", i + 1)
            if end < 0:
                raise ArgumentError(f"the pattern {pattern!r} has a [ without ]; to match a [ write [[]")
            inner = pattern[i:end].replace("\\", r"\\").replace("[", r"\[")
            out += "[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]"
            i = end + 1
        elif char == "{":
            out, depth = out + "(?:", depth + 1
        elif char == "}" and depth:
            out, depth = out + ")", depth - 1
        elif char == "," and depth:
            out += "|"
        else:
            out += re.escape(char)
    if depth:
        raise ArgumentError(f"the pattern {pattern!r} has a {{ without }}; to match a {{ write [{{]")
    return out
