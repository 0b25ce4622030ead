"""A PostgreSQL server of one's own: installed, or Debian's package unpacked; below a temporary directory.

    python tools/postgres.py            # starts one, prints its JDBC URL, stops it on Ctrl-C

Needs no system service and leaves nothing behind. PostgreSQL refuses to run as root, so for root it runs as `nobody`.
`SCURRY_POSTGRES_BIN` names the directory of another installation.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

USER, PASSWORD, DATABASE = "scurry", "correct-horse", "scurry"
START_SECONDS = 60
#: where Debian's packages are unpacked; root's own directories are closed to `nobody`, as whom the server runs then
PACKAGES = (
    Path("/var/cache" if os.getuid() == 0 else os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    / "scurry" / "postgresql"
)  # fmt: skip


#: Waits until its input ends, which it does with whoever holds the other end, however that dies; then cleans up.
WATCH = """
cat > /dev/null
pid=$(head -n 1 "$0/data/postmaster.pid" 2> /dev/null)
if [ -n "$pid" ] && tr '\\0' ' ' < "/proc/$pid/cmdline" 2> /dev/null | grep -qF "$0/data"; then
    kill -INT "$pid"
    for _ in 1 2 3 4 5 6 7 8 9 10; do [ -d "/proc/$pid" ] || break; sleep 0.5; done
fi
rm -rf "$0"
"""


class NoPostgresError(Exception):
    """There is no PostgreSQL, and none can be had."""


def programs() -> Path:
    """The directory of `initdb` and `postgres`.

    Raises:
        NoPostgresError: Says what is missing.
    """
    chosen = os.environ.get("SCURRY_POSTGRES_BIN")
    if chosen:
        return Path(chosen)
    for pattern in ("/usr/lib/postgresql/*/bin", f"{PACKAGES}/usr/lib/postgresql/*/bin"):
        for directory in sorted(glob.glob(pattern), reverse=True):
            if Path(directory, "initdb").exists():
                return Path(directory)
    return _unpacked()


def _unpacked() -> Path:
    """Downloads Debian's packages and unpacks them, without installing anything."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise NoPostgresError("no PostgreSQL is installed, and this is no Debian to fetch its package from")
    depends = subprocess.run(["apt-cache", "depends", "postgresql"], capture_output=True, text=True).stdout
    server = next((word for word in depends.split() if word.startswith("postgresql-") and word[11:].isdigit()), None)
    if server is None:
        raise NoPostgresError("no PostgreSQL is installed, and apt knows no package postgresql (apt-get update?)")
    client = server.replace("postgresql-", "postgresql-client-")
    with tempfile.TemporaryDirectory() as directory:
        command = ["apt-get", "download", server, client, "libpq5"]
        fetched = subprocess.run(command, cwd=directory, capture_output=True, text=True)
        if fetched.returncode:
            raise NoPostgresError(f"no PostgreSQL is installed, and apt-get download fails: {fetched.stderr.strip()}")
        PACKAGES.mkdir(parents=True, exist_ok=True)
        for package in glob.glob(f"{directory}/*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, str(PACKAGES)], check=True)
    return Path(sorted(glob.glob(f"{PACKAGES}/usr/lib/postgresql/*/bin"))[-1])


class Server:
    """A server on a free port of the loopback interface, with a database and a user who owns it."""

    def __init__(self) -> None:
        self._programs = programs()
        self._directory = tempfile.mkdtemp(prefix="scurry-postgres-")
        self._account: dict[str, Any] = {}
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._account = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self._directory, nobody.pw_uid, nobody.pw_gid)
        self._environment = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}
        self._watcher = subprocess.Popen(["sh", "-c", WATCH, self._directory], stdin=subprocess.PIPE,
                                         start_new_session=True, cwd="/", **self._account)  # fmt: skip
        libraries = self._programs.parents[3] / "lib"  # where an unpacked package has its own libpq
        if libraries != Path("/usr/lib"):
            self._environment["LD_LIBRARY_PATH"] = ":".join(glob.glob(f"{libraries}/*-linux-gnu"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None
        self._initialise()

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    @property
    def conninfo(self) -> str:
        return f"host=127.0.0.1 port={self.port} dbname={DATABASE} user={USER} password={PASSWORD}"

    @property
    def _maintenance(self) -> str:
        return self.conninfo.replace(f"dbname={DATABASE}", "dbname=postgres")

    def _initialise(self) -> None:
        secret = Path(self._directory, "password")
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        command = [self._programs / "initdb", "-D", f"{self._directory}/data", "-U", USER, "-E", "UTF8", "--no-sync",
                   "--auth=scram-sha-256", f"--pwfile={secret}", "--no-locale"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, env=self._environment, cwd=self._directory,
                              **self._account)  # fmt: skip
        if done.returncode:
            shutil.rmtree(self._directory, ignore_errors=True)
            raise NoPostgresError(f"initdb fails: {done.stderr.strip()}")
        self.start()
        self.empty()

    def empty(self) -> None:
        """Makes the database anew; sessions in it are ended."""
        import psycopg

        with psycopg.connect(self._maintenance, autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            admin.execute(f"CREATE DATABASE {DATABASE}")

    def start(self) -> None:
        """Starts the server, or starts it again, and waits until it answers."""
        settings = {
            "listen_addresses": "127.0.0.1", "port": self.port, "unix_socket_directories": self._directory,
            "fsync": "off",  # what is killed is the server, not the machine
            "shared_buffers": "16MB", "max_connections": 50,
            "wal_level": "logical", "max_replication_slots": 20, "max_wal_senders": 20,  # for change data capture
        }  # fmt: skip
        command = [self._programs / "postgres", "-D", f"{self._directory}/data"]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        give_up = time.monotonic() + START_SECONDS
        with open(f"{self._directory}/log", "ab") as log:
            while True:
                self._process = subprocess.Popen(command, stdout=log, stderr=log, env=self._environment,
                                                 cwd=self._directory, **self._account)  # fmt: skip
                if self._answers(give_up):
                    return
                # the backends of a killed server may still be leaving
                if time.monotonic() > give_up:
                    raise NoPostgresError(Path(self._directory, "log").read_text()[-2000:])
                time.sleep(0.1)

    def _answers(self, give_up: float) -> bool:
        import psycopg

        assert self._process is not None
        while self._process.poll() is None and time.monotonic() < give_up:
            try:
                psycopg.connect(self._maintenance).close()
                return True
            except psycopg.OperationalError:
                time.sleep(0.05)
        return False

    def kill(self) -> None:
        """SIGKILL to the server and all its processes."""
        assert self._process is not None
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._process.wait()

    def stop(self) -> None:
        """Stops the server and removes all it had."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # fast shutdown: does not wait for sessions
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)
        assert self._watcher.stdin is not None
        self._watcher.stdin.close()
        self._watcher.wait()


def _children(parent: int) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            ppid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
        if ppid == parent:
            found.append(int(pid))
    return found


if __name__ == "__main__":
    server = Server()
    try:
        print(f"{server.url}  user {USER}, password {PASSWORD}; Ctrl-C stops it", flush=True)
        signal.pause()
    except KeyboardInterrupt:
        pass
    finally:
        server.stop()
