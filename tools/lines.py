"""Count the lines of src, and say which stand since a commit.

    python tools/lines.py COMMIT

By git blame, which follows lines that move: lines that stand since the commit, lines that replaced others, and lines
that were added, by package. Of a commit that adds A lines and deletes D, min(D, A) / A of the lines replaced others.
Code is what is neither blank nor a comment nor a docstring. It takes some minutes.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Packages that are listed by their packages.
_LARGE = {"connectors", "runtime", "sql", "datastream"}
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def git(*arguments: str) -> str:
    """Return what a command of git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def code_lines(text: str) -> int:
    """Return the number of lines with code."""
    documented = [node.body[0] for node in ast.walk(ast.parse(text)) if isinstance(node, _DOCUMENTED) and node.body]
    docstrings = [node for node in documented if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)]
    tokens = [each for each in tokenize.generate_tokens(io.StringIO(text).readline) if each.type not in _NO_CODE]
    lines = {line for each in tokens for line in range(each.start[0], each.end[0] + 1)}
    return len(lines - {line for node in docstrings for line in range(node.lineno, (node.end_lineno or 0) + 1)})


def replaced_shares(since: str) -> dict[str, float]:
    """Return which share of the lines that a commit added replaced others, for each commit since the given one."""
    added, deleted, commit = Counter[str](), Counter[str](), ""
    for line in git("log", "-M", "--numstat", "--format=@%H", f"{since}..HEAD", "--", "src/*.py").splitlines():
        if line.startswith("@"):
            commit = line[1:]
        elif line:
            more, less, _ = line.split("\t", 2)
            added[commit] += int(more)
            deleted[commit] += int(less)
    return {commit: min(deleted[commit], count) / count if count else 0.0 for commit, count in added.items()}


def origins(file: str) -> Counter[str]:
    """Return how many lines of a file are of which commit."""
    porcelain = git("blame", "-w", "-M", "-C", "--line-porcelain", "HEAD", "--", file).splitlines()
    heads = (line.split(" ") for line in porcelain if not line.startswith("\t"))
    return Counter(head[0] for head in heads if len(head[0]) == 40 and len(head) >= 3)


def package_of(file: str) -> str:
    """Return the package that a file is listed with."""
    parts = Path(file).parts[2:]
    return "/".join(parts[: 2 if parts[0] in _LARGE and len(parts) > 2 else 1])


def main(since: str) -> None:
    """Print the table."""
    files, then = git("ls-files", "src/*.py").split(), set(git("rev-list", since).split())
    shares, table = replaced_shares(since), defaultdict[str, Counter[str]](Counter)
    with ThreadPoolExecutor(2) as threads:
        for file, found in zip(files, threads.map(origins, files), strict=True):
            text = (ROOT / file).read_text(encoding="utf-8")
            row = Counter[str](lines=text.count("\n"), code=code_lines(text))
            for commit, count in found.items():
                share = shares.get(commit, 0.0)
                row.update(
                    {"stands": count} if commit in then else {"replaced": count * share, "added": count * (1 - share)}
                )
            table[package_of(file)].update(row)
            table["all"].update(row)
    names = ("lines", "code", "stands", "replaced", "added")
    print(f"{'':32}", *(f"{name:>9}" for name in names))
    for package, row in sorted(table.items(), key=lambda each: -each[1]["lines"]):
        print(f"{package:32}", *(f"{row[name]:9.0f}" for name in names))


if __name__ == "__main__":
    main(*sys.argv[1:])
