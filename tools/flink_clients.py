"""Flink's own clients of a SQL gateway, for tests: the SQL client of an installed PyFlink, and the JDBC driver.

What PyFlink lacks comes from Maven Central and is kept in ~/.cache/scurry. A Java 17 is needed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import urllib.request
from pathlib import Path

VERSION = "2.3.0"
CENTRAL = os.environ.get("SCURRY_MAVEN", "https://repo1.maven.org/maven2")
#: The directory of an installed `pyflink`; there is none by default.
PYFLINK = Path(os.environ.get("SCURRY_PYFLINK", "no-pyflink"))
_DIGESTS = {
    "flink-sql-gateway": "aad296a152dc367ddd70727f5a57dd61958cff3d8dceb1f947bf8d9705c8d724",
    "flink-sql-jdbc-driver-bundle": "f9acfded5e281f1187d9a25538d757035f5687986a38b1a434256cfc4ce939ff",
}


def jar(artifact: str) -> Path:
    """Returns a jar of Flink, downloaded and checked if it is not there yet.

    Raises:
        OSError: Maven Central cannot be reached.
        ValueError: The jar is not the one that is expected.
    """
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "scurry" / f"flink-clients-{VERSION}"
    root.mkdir(parents=True, exist_ok=True)
    path = root / f"{artifact}-{VERSION}.jar"
    if not path.exists():
        url = f"{CENTRAL}/org/apache/flink/{artifact}/{VERSION}/{path.name}"
        with urllib.request.urlopen(url, timeout=120) as answer:
            content = answer.read()
        if hashlib.sha256(content).hexdigest() != _DIGESTS[artifact]:
            raise ValueError(f"{url} is not the jar that {__file__} names")
        partial = path.with_suffix(f".{os.getpid()}")
        partial.write_bytes(content)
        partial.rename(path)
    return path


def home(directory: Path) -> Path:
    """Makes a Flink home with the SQL client in a directory, and returns it."""
    shutil.copytree(PYFLINK / "bin", directory / "bin")
    shutil.copytree(PYFLINK / "conf", directory / "conf")
    for name in ("lib", "opt"):
        (directory / name).mkdir()
        for each in (PYFLINK / name).glob("*.jar"):
            (directory / name / each.name).symlink_to(each)
    for name in ("plugins", "log"):
        (directory / name).mkdir()
    (directory / "opt" / f"flink-sql-gateway-{VERSION}.jar").symlink_to(jar("flink-sql-gateway"))
    for script in (directory / "bin").glob("*.sh"):
        script.chmod(0o755)
    return directory
