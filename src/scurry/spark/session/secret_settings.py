"""Start the JVM without secrets in its arguments, which every user of the machine can read.

`spark-submit` gets a properties file that only this user can read and that is deleted once the JVM runs. Java's own
properties (`-Djavax.net.ssl.keyStorePassword=...`) are set in the JVM after it has started.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from scurry.common.redaction import has_secret

_SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"


def start_jvm(builder: Any) -> None:
    """Start the JVM for a session if its settings have secrets and no JVM runs.

    Args:
        builder: Spark's session builder, with all settings; secrets are removed from its Java options.
    """
    from pyspark import SparkConf, SparkContext

    settings: dict[str, str] = builder._options
    java_options, properties = _java_options(settings.get(_JAVA_OPTIONS, ""))
    if properties:
        builder.config(_JAVA_OPTIONS, java_options)
    secret = {key: value for key, value in settings.items() if has_secret(key, value)}
    if SparkContext._gateway is not None or not (secret or properties):
        return
    public = SparkConf(loadDefaults=False).setAll([pair for pair in settings.items() if pair[0] not in secret])
    with _submitted(secret):
        SparkContext._ensure_initialized(conf=public)
    jvm: Any = SparkContext._jvm
    for name, value in properties.items():
        jvm.java.lang.System.setProperty(name, value)


def _java_options(text: str) -> tuple[str, dict[str, str]]:
    """Split Java's options into options without secrets and secret properties."""
    kept, properties = [], {}
    for option in shlex.split(text):
        name, equals, value = option.removeprefix("-D").partition("=")
        if option.startswith("-D") and equals and has_secret(name, value):
            properties[name] = value
        else:
            kept.append(option)
    return (shlex.join(kept), properties) if properties else (text, {})


@contextmanager
def _submitted(settings: Mapping[str, str]) -> Iterator[None]:
    """Let `spark-submit` read settings from a file, unless the user has given it another one.

    With the user's file, the settings reach Spark with the session: too late only for what `spark-submit` itself loads.
    """
    before = os.environ.get(_SUBMIT_ARGUMENTS)
    arguments = before or "pyspark-shell"
    if not settings or "--properties-file" in arguments:
        yield
        return
    descriptor, path = tempfile.mkstemp(prefix="scurry-", suffix=".properties")  # readable by this user only
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.writelines(f"{_escaped(key)}={_escaped(value)}\n" for key, value in settings.items())
        os.environ[_SUBMIT_ARGUMENTS] = f"--properties-file {shlex.quote(path)} --load-spark-defaults {arguments}"
        yield
    finally:
        os.unlink(path)
        if before is None:
            os.environ.pop(_SUBMIT_ARGUMENTS, None)
        else:
            os.environ[_SUBMIT_ARGUMENTS] = before


def _escaped(text: str) -> str:
    """Return a text as Java's properties files escape it: UTF-16 in ASCII."""
    units = text.encode("utf-16-be").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))
