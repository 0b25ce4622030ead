"""Spark master URLs are checked before there is a Spark to choke on them."""

from __future__ import annotations

import socket

import pytest

from scurry.common import Configuration
from scurry.datastream import StreamExecutionEnvironment
from scurry.errors import ClusterUnreachableError, ConfigError
from scurry.spark.session.cluster import joining, reach
from scurry.testing import job_plan_of

GOOD = ["local", "local[4]", "local[*]", "local[*,3]", "local[2, 3]", "local-cluster[2,1,1024]", "spark://host:7077",
        "spark://a:7077,b:7077", "spark://[::1]:7077", "yarn", "k8s://https://host:6443"]  # fmt: skip
BAD = [
    "foo",
    "",
    "local[]",
    "local[0]",
    "local(2)",
    "spark://host",
    "spark:host:7077",
    "host:7077",
    "mesos://host:5050",
]


@pytest.mark.parametrize("url", GOOD)
def test_masters_are_accepted(url: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"spark.master": url}))
    env.from_collection([1]).print()
    assert job_plan_of(env).settings.configuration["spark.master"] == url


@pytest.mark.parametrize("url", BAD)
def test_what_is_no_master_is_refused_with_the_forms_there_are(url: str) -> None:
    with pytest.raises(ConfigError, match=r"is no Spark master: use local\[N\] or local\[\*\].*spark://HOST:PORT"):
        StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict({"spark.master": url}))


def test_a_master_that_nobody_listens_at_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"spark://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ClusterUnreachableError, match=f"no Spark master answers at {url} .*refused") as caught:
            reach(url)
    assert caught.value.permanent


@pytest.mark.parametrize("scheme", ["https://", "http://", ""])
def test_an_api_server_that_nobody_listens_at_is_named(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ClusterUnreachableError, match=f"no Kubernetes API server answers at {address} .*refused"):
            reach(f"k8s://{address}")


def test_an_api_server_that_listens_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        reach(f"k8s://https://127.0.0.1:{server.getsockname()[1]}")


def test_one_of_several_masters_is_enough() -> None:
    with socket.socket() as server, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        server.bind(("127.0.0.1", 0))
        server.listen()
        reach(f"spark://127.0.0.1:{unused.getsockname()[1]},127.0.0.1:{server.getsockname()[1]}")


def test_a_master_that_takes_no_application_is_one_line() -> None:
    stacks = "java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.\n\tat x.y"
    with pytest.raises(ClusterUnreachableError) as caught, joining("spark://host:7077"):
        raise RuntimeError(stacks)
    assert "what answers at spark://host:7077 does not take the application" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_yarn_without_its_configuration_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    with pytest.raises(ConfigError, match="HADOOP_CONF_DIR"):
        reach("yarn")
