"""The configuration keys of the endpoint."""

from __future__ import annotations

import pytest

from scurry.common._config.rest import REST_PORT, parse_ports
from scurry.common._config.validation import validate
from scurry.errors import ConfigError, UnknownConfigError


def test_ports_are_listed_as_in_flink() -> None:
    assert [parse_ports(text) for text in ("8081", "50100,50101", "1-3, 9")] == [(8081,), (50100, 50101), (1, 2, 3, 9)]


@pytest.mark.parametrize("text", ["", "http", "70000", "9-8", "1,,2", "-1"])
def test_other_ports_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected ports"):
        parse_ports(text)


@pytest.mark.parametrize("text", ["70000", "8081,8082", "-1"])
def test_the_port_is_one(text: str) -> None:
    assert [REST_PORT.parse(text) for text in ("0", "8081")] == [0, 8081]
    with pytest.raises(ConfigError, match=r"rest\.port = "):
        REST_PORT.parse(text)


def test_a_misspelt_key_of_the_endpoint_is_not_harmless() -> None:
    with pytest.raises(UnknownConfigError, match=r"did you mean rest.bind-address"):
        validate({"rest.bind-adress": "0.0.0.0"})
