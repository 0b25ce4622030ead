"""Kinesis, as `kinesis-local` of npm simulates it: closed shards end, as those of AWS do."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import botocore.session

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess

PACKAGE = "kinesis-local@0.6.2"
REGION = "us-east-1"


class KinesisServer(ServerProcess):
    """Kinesis on loopback; its data is in memory, and lost with the process."""

    needs_ports = 2

    def prepare(self) -> None:
        self._home = _installed()

    def command(self) -> Sequence[str | Path]:
        return ["node", self._home / "main.js"]

    def environment(self) -> dict[str, str]:
        waits = ("CREATE_STREAM", "DELETE_STREAM", "SPLIT_SHARD", "MERGE_SHARDS", "UPDATE_SHARD_COUNT")
        return (
            os.environ
            | {f"{each}_DURATION": "10ms" for each in waits}
            | {
                "KINESIS_MOCK_PLAIN_PORT": str(self.ports[0]),
                "KINESIS_MOCK_TLS_PORT": str(self.ports[1]),
                "KINESIS_MOCK_CERT_PATH": str(self._home / "server.json"),
                "LOG_LEVEL": "ERROR",
            }
        )

    def is_ready(self) -> bool:
        try:
            client_of(self.port).list_streams()
        except Exception:  # whatever a server says that is not there yet
            return False
        return True


def client_of(port: int) -> Any:
    return botocore.session.Session().create_client(
        "kinesis",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        region_name=REGION,
    )


def properties_of(port: int) -> dict[str, str]:
    """Return what sources and sinks are told of the server."""
    return {
        "aws.region": REGION,
        "aws.endpoint": f"http://127.0.0.1:{port}",
        "aws.credentials.provider.basic.accesskeyid": "test",
        "aws.credentials.provider.basic.secretkey": "test",
    }


def _installed() -> Path:
    if shutil.which("node") is None:
        raise Unavailable("node is not installed, which runs the simulation of Kinesis: apt-get install nodejs npm")
    target = cache_directory() / "servers" / PACKAGE.replace("@", "-")
    home = target / "node_modules" / "kinesis-local"
    if not home.exists() and os.environ.get(INSTALLS) and shutil.which("npm"):
        done = subprocess.run(["npm", "install", "--prefix", target, PACKAGE], capture_output=True, text=True)
        if not home.exists():
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    if not home.exists():
        raise Unavailable(
            f"kinesis-local is not installed: npm install --prefix {target} {PACKAGE}, or set {INSTALLS}=1 to let "
            "tests do it"
        )
    return home
