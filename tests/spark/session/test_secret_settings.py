"""Secrets in settings reach Spark, and stand in no process's arguments."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from scurry.spark.session.secret_settings import _escaped, _java_options


def test_secret_properties_of_java_are_taken_out_of_its_options() -> None:
    options = "-Xss8m -Djavax.net.ssl.keyStorePassword='a b' -Dfile.encoding=UTF-8"
    assert _java_options(options) == ("-Xss8m -Dfile.encoding=UTF-8", {"javax.net.ssl.keyStorePassword": "a b"})
    assert _java_options("-Xss8m  -Da=b") == ("-Xss8m  -Da=b", {})


def test_any_text_can_be_in_a_properties_file() -> None:
    assert _escaped("ä=\n😀") == "\\u00e4\\u003d\\u000a\\ud83d\\ude00"


@pytest.mark.spark
def test_no_process_shows_them(tmp_path: Path) -> None:
    program = """
        import glob, os
        from scurry.graph.plan import JobPlan
        from scurry.graph.settings import JobSettings
        from scurry.spark.session.session import _create

        spark = _create(JobPlan(JobSettings("secrets", 1, configuration={
            "spark.hadoop.fs.s3a.secret.key": "xzy7w \\u00e4=y",
            "spark.my.url": "amqp://joe:zzy7w@host",
            "spark.driver.extraJavaOptions": "-Dmy.password=jzy7w -Dmy.size=3",
        })))
        seen = [open(file, "rb").read() for file in glob.glob(f"/proc/[0-9]*/cmdline") if os.access(file, os.R_OK)]
        assert any(b"SparkSubmit" in line and b"-Dmy.size=3" in line for line in seen)
        assert not [line for line in seen if b"zy7w" in line]
        assert spark._jsc.hadoopConfiguration().get("fs.s3a.secret.key") == "xzy7w \\u00e4=y"
        assert spark.conf.get("spark.my.url") == "amqp://joe:zzy7w@host"
        assert spark._jvm.java.lang.System.getProperty("my.password") == "jzy7w"
        assert "PYSPARK_SUBMIT_ARGS" not in os.environ
        assert not glob.glob(f"{os.environ['TMPDIR']}/*.properties")
        print("hidden")
    """
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(program))
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(Path.home()), "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=300, env=environment)
    assert done.stdout == "hidden\n", done.stderr
