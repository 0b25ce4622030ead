"""A process with everything imported, of which Spark's Python processes on the driver's machine are forked.

Spark starts a daemon of Python workers and, for each level of a streaming query, a Python process that declares its
state. Each of them would import pyspark, pandas, pyarrow and scurry, one after the other, while the first micro-batch
waits for it. The template imports them once, while the JVM starts.

Spark runs the interpreter that `worker_python` returns. It lets `from_template.py` ask the template, through a Unix
socket, for a fork with the caller's files, environment and directory. If there is no template, or its environment is
another one, the interpreter starts as usual.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import runpy
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count

from scurry._dataclasses import dataclass
from scurry.common._process.directories import socket_directory
from scurry.spark.workers.daemon import import_what_workers_need, without_archives

#: The environment variable with the address of the template.
ADDRESS = "SCURRY_TEMPLATE"

#: Variables that processes read when they need them, not when they start: forks may have other values.
_READ_LATER = re.compile(
    r"(_?PYSPARK|SPARK|SCURRY)_.*|PYTHON_(WORKER|DAEMON|UDF|UNIX|AUTH)_.*|PYTHONUNBUFFERED|JAVA_HOME|SHLVL|(OLD)?PWD|_"
)

_numbers = count()


@dataclass(frozen=True)
class _Template:
    """A template that this process has started."""

    process: subprocess.Popen[bytes]
    environment: Mapping[str, str]

    def is_of_use(self, environment: Mapping[str, str]) -> bool:
        """Return whether it runs, and its forks are as processes with an environment would be."""
        return self.process.poll() is None and fits(self.environment, environment)

    def end(self) -> None:
        """Let it end; its forks go on."""
        assert self.process.stdin is not None
        with suppress(OSError):  # it has ended
            self.process.stdin.close()
        self.process.wait()


_started: list[_Template] = []


# ---------------------------------------------------------------- on the driver


def start_template() -> None:
    """Start the template of this process, unless one of use runs; JVMs that are started from now on use it."""
    # what Spark sets for its Python processes, and they read when they start
    seed = os.environ.get("PYTHONHASHSEED", "0")
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "YES"}
    if any(template.is_of_use(environment) for template in _started):
        return
    end_template()
    address = socket_directory() / f"template-{next(_numbers)}"
    nowhere = subprocess.DEVNULL
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(address))
        listening.listen()
        number = listening.fileno()
        # in a group of its own, Ctrl-C does not reach it
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(number)],
            stdin=subprocess.PIPE,
            stdout=nowhere,
            stderr=nowhere,
            env=environment,
            process_group=0,
            pass_fds=[number],
        )
    _started.append(_Template(process, environment))
    os.environ[ADDRESS] = str(address)


def end_template() -> None:
    """End the template of this process, if there is one: processes start without it."""
    while _started:
        _started.pop().end()
    os.environ.pop(ADDRESS, None)


def import_in_template(modules: str) -> None:
    """Let the template, if there is one, import modules: their names, separated by commas."""
    for template in _started:
        assert template.process.stdin is not None
        with suppress(OSError):  # it has ended: processes start without it
            template.process.stdin.write(f"{modules}\n".encode())
            template.process.stdin.flush()


# ---------------------------------------------------------------- in the template


@dataclass(frozen=True)
class _Request:
    """A process to be: the request of `from_template.py`."""

    executable: str
    arguments: list[str]
    environment: dict[str, str]
    directory: str


def fits(own: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Return whether a process with another environment would be the same as a fork of this one.

    Args:
        own: The environment that this process was started with.
    """
    differing = {name for name in {*own, *other} if own.get(name) != other.get(name)}
    # Spark does not set it for the processes that declare state, which compute nothing
    if "OMP_NUM_THREADS" not in other:
        differing.discard("OMP_NUM_THREADS")
    if _python_path(own) == _python_path(other):
        differing.discard("PYTHONPATH")
    return all(_READ_LATER.fullmatch(name) for name in differing)


def _python_path(environment: Mapping[str, str]) -> list[str]:
    path = environment.get("PYTHONPATH", "").split(os.pathsep)
    return list(dict.fromkeys(each for each in without_archives(path) if each))


def _serve(number: int) -> None:
    """Fork a process for each request to a listening socket, until the driver ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    own = dict(os.environ)
    with socket.socket(fileno=number) as listening:
        gc.disable()  # while much is made that stays
        import_what_workers_need("")
        gc.freeze()
        gc.enable()
        while True:
            ready = select.select([0, number], [], [])[0]
            if 0 in ready:
                line = os.read(0, 1 << 20)
                if not line:
                    return
                for name in line.decode().replace("\n", ",").split(","):
                    with suppress(Exception):  # a worker that needs it says what is wrong
                        importlib.import_module(name)
                gc.freeze()
            if number in ready:
                _answer(listening, own)


def _answer(listening: socket.socket, own: Mapping[str, str]) -> None:
    connection = listening.accept()[0]
    with connection:
        try:
            request, files = _received(connection)
        except (OSError, TypeError, ValueError):
            return
        as_own = request.executable == sys.executable and fits(own, request.environment)
        if as_own and request.arguments[:1] == ["-m"]:
            if os.fork() == 0:
                listening.close()
                _become(connection, files, request)
        for file in files:
            os.close(file)


def _received(connection: socket.socket) -> tuple[_Request, list[int]]:
    """Return a request and the files that came with it."""
    data, files, _, _ = socket.recv_fds(connection, 8, 3)
    length = int.from_bytes(data, "big")
    text = b""
    while len(text) < length:
        part = connection.recv(length - len(text))
        if not part:
            raise OSError("the request is incomplete")
        text += part
    return _Request(**json.loads(text)), files


def _become(connection: socket.socket, files: Sequence[int], request: _Request) -> None:
    """Be the requested process, in a fork; does not return."""
    status = 1
    os.register_at_fork(after_in_child=connection.close)  # else its forks, too, would keep the caller waiting
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(request.environment)
        os.chdir(request.directory)
        sys.path[0] = request.directory
        module, *rest = request.arguments[1:]
        sys.argv = [module, *rest]
        connection.sendall(b"+")
        sys.modules.pop(module, None)  # else Python warns of the second copy that it makes
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(bytes([status & 0xFF]))
        os._exit(status)


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
