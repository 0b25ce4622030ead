"""Properties: Java's names become librdkafka's, secrets stay unseen."""

from __future__ import annotations

import pickle

import pytest

from scurry.connectors.kafka.properties import ClientProperties
from scurry.errors import ArgumentError, UnsupportedError

JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="open-sesame";'


def client(**properties: str) -> dict[str, str]:
    given = {"bootstrap.servers": "b:1", **{name.replace("_", "."): value for name, value in properties.items()}}
    found = ClientProperties(given).client()
    assert found.pop("bootstrap.servers") == "b:1"
    return found


def test_names_that_both_know_are_passed_on() -> None:
    assert client(security_protocol="SASL_SSL", linger_ms="5") == {"security.protocol": "SASL_SSL", "linger.ms": "5"}


def test_names_of_javas_clients_are_translated() -> None:
    assert client(fetch_max_wait_ms="7", ssl_truststore_certificates="PEM") == {
        "fetch.wait.max.ms": "7", "ssl.ca.pem": "PEM",
    }  # fmt: skip


def test_what_only_javas_clients_do_inside_is_left_out() -> None:
    assert client(key_deserializer="x.Y", max_poll_records="7", auto_offset_reset="latest") == {}


def test_user_and_password_are_found_in_jaas() -> None:
    assert client(sasl_jaas_config=JAAS) == {"sasl.username": "alice", "sasl.password": "open-sesame"}


def test_other_jaas_is_refused_without_showing_it() -> None:
    with pytest.raises(UnsupportedError) as refused:
        client(sasl_jaas_config='com.sun.security.auth.module.Krb5LoginModule required keyTab="secret";')
    assert "secret" not in str(refused.value)


def test_java_classes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="interceptor.classes names a Java class"):
        client(interceptor_classes="x.Y")


def test_java_key_stores_are_refused_with_what_to_do() -> None:
    with pytest.raises(UnsupportedError, match="keytool -exportcert"):
        client(ssl_truststore_location="/trust.jks")
    assert client(ssl_truststore_location="/trust.pem") == {"ssl.ca.location": "/trust.pem"}
    assert client(ssl_keystore_location="/k.p12") == {"ssl.keystore.location": "/k.p12"}


@pytest.mark.parametrize("name", ["sasl.password", "sasl.jaas.config", "ssl.key.password", "ssl.keystore.key",
                                  "ssl.key.pem", "sasl.oauthbearer.client.secret"])  # fmt: skip
def test_secrets_are_not_shown(name: str) -> None:
    value = JAAS if "jaas" in name else "open-sesame"
    properties = ClientProperties({"bootstrap.servers": "b:1", name: value})
    assert "open-sesame" not in repr(properties)
    assert f"{name}=******" in repr(properties) and "b:1" in repr(properties)


def test_properties_are_equal_and_travel() -> None:
    properties = ClientProperties({"bootstrap.servers": "b:1", "linger.ms": 5})
    assert pickle.loads(pickle.dumps(properties)) == properties
    assert hash(pickle.loads(pickle.dumps(properties))) == hash(properties)


def test_no_servers_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="set_bootstrap_servers"):
        ClientProperties({})
