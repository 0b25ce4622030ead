"""RabbitMQ."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

import pika

from support.servers.debian import Unavailable, program
from support.servers.process import ServerProcess, answers, directory_of

#: The script of Debian's that changes the user is not it.
_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")


class RabbitServer(ServerProcess):
    """RabbitMQ with user `guest` and the protocol of streams; its data is kept over `kill`."""

    needs_ports = 4

    @property
    def stream_port(self) -> int:
        """The port of the protocol of streams."""
        return self.ports[3]

    def prepare(self) -> None:
        program("rabbitmq-server", "rabbitmq-server")
        if os.getuid() != 0 or not _SERVER.exists():
            raise Unavailable("RabbitMQ starts as user rabbitmq, for which tests have to run as root")
        (self.directory / "plugins").write_text("[rabbitmq_stream].")
        (self.directory / "rabbit.conf").write_text(
            f"loopback_users = none\nlog.console = true\nstream.listeners.tcp.1 = 127.0.0.1:{self.stream_port}\n"
        )
        (self.directory / "stream-port").write_text(str(self.stream_port))
        user = pwd.getpwnam("rabbitmq")
        for each in (self.directory, *self.directory.iterdir()):
            os.chown(each, user.pw_uid, user.pw_gid)

    def environment(self) -> dict[str, str]:
        here = self.directory
        return os.environ | {
            "HOME": str(here),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": str(self.ports[1]),
            "RABBITMQ_DIST_PORT": str(self.ports[2]),
            "RABBITMQ_NODENAME": f"t{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_MNESIA_BASE": str(here / "mnesia"),
            "RABBITMQ_LOG_BASE": str(here / "log"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(here / "plugins"),
            "RABBITMQ_CONFIG_FILE": str(here / "rabbit.conf"),
            "RABBITMQ_PID_FILE": str(here / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2",
        }

    def command(self) -> Sequence[str | Path]:
        user = ["--reuid=rabbitmq", "--regid=rabbitmq", "--clear-groups"]
        return [shutil.which("setpriv") or "setpriv", *user, _SERVER]

    def is_ready(self) -> bool:
        try:
            self.connect().close()
        except (pika.exceptions.AMQPError, OSError):
            return False
        return answers(self.stream_port)

    def connect(self) -> pika.BlockingConnection:
        """A connection of `guest`."""
        return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.port))

    def kill(self) -> None:
        """SIGKILL, to the daemon of Erlang's names, too, which outlives its server."""
        super().kill()
        mine = f"ERL_EPMD_PORT={self.ports[1]}\0".encode()
        for process in Path("/proc").iterdir():
            try:
                if process.name.isdigit() and b"epmd" in (process / "cmdline").read_bytes():
                    if mine in (process / "environ").read_bytes():
                        os.kill(int(process.name), signal.SIGKILL)
            except OSError:
                continue


def stream_port_of(port: int) -> int:
    """Return the port of the protocol of streams of the server at a port."""
    return int((directory_of(port) / "stream-port").read_text())
