"""MariaDB, with a binlog in rows that names columns."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from support.servers.debian import program
from support.servers.process import ServerProcess

#: What reads the binlog needs.
BINLOG = {
    "server-id": "1", "log-bin": "binlog", "binlog-format": "ROW", "binlog-row-image": "FULL",
    "binlog-row-metadata": "FULL",
}  # fmt: skip


class MariaDbServer(ServerProcess):
    """MariaDB whose user `root` has no password."""

    def prepare(self) -> None:
        self._program = program("mariadbd", "mariadb-server")
        data = self.directory / "data"
        user = ["--user=mysql"] if os.getuid() == 0 else []
        if user:
            subprocess.run(["chown", "mysql", self.directory], check=True)
        install = str(program("mariadb-install-db", "mariadb-server"))
        subprocess.run(
            [
                install,
                "--no-defaults",
                *user,
                f"--datadir={data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            check=True,
            capture_output=True,
        )

    def command(self) -> Sequence[str | Path]:
        user = ["--user=mysql"] if os.getuid() == 0 else []
        files = [f"--{name}={self.directory}/{name}" for name in ("socket", "pid-file")]
        sizes = ["--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF"]
        binlog = [f"--{name}={value}" for name, value in BINLOG.items()]
        place = [f"--datadir={self.directory}/data", "--bind-address=127.0.0.1", f"--port={self.port}"]
        return [self._program, "--no-defaults", *user, *place, *files, *sizes, *binlog]

    def is_ready(self) -> bool:
        import pymysql

        try:
            pymysql.connect(host="127.0.0.1", port=self.port, user="root").close()
        except pymysql.MySQLError:
            return False
        return True
