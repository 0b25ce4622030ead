"""How schema registries are reached, and what is said when they are not; tests/kafka has those on a real one."""

from __future__ import annotations

import json
import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from scurry.connectors.avro import registry as registry_module
from scurry.datastream.formats.avro import AvroSchema
from scurry.datastream.formats.avro_registry import (
    ConfluentRegistryAvroDeserializationSchema,
    ConfluentRegistryAvroSerializationSchema,
)
from scurry.errors import ArgumentError, MalformedRecordError, SchemaRegistryError, UnsupportedError

NUMBER = AvroSchema('"long"')
MESSAGE = b"\x00\x00\x00\x00\x07\x02"
#: Nothing listens on the port that is reserved for this.
NOBODY = "http://127.0.0.1:9"


class Scripted(HTTPServer):
    """Answers with what a test wants, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, str | None]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answering(BaseHTTPRequestHandler):
    server: Scripted

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Authorization"]))
        status, body = self.server.answers.pop(0)
        content = json.dumps(body).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", body)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Scripted]:
    monkeypatch.setattr(registry_module, "_PAUSES", (0.0, 0.0))
    server = Scripted()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    registry_module.registry_at.cache_clear()


def reading(url: str, configs: dict[str, str] | None = None) -> ConfluentRegistryAvroDeserializationSchema:
    return ConfluentRegistryAvroDeserializationSchema.for_generic(NUMBER, url, configs)


def test_a_schema_is_asked_for_once(server: Scripted) -> None:
    server.answers = [(200, {"schema": '"int"'})]
    for _ in range(2):
        schema = pickle.loads(pickle.dumps(reading(server.url)))
        assert schema.deserialize(MESSAGE) == 1
    assert server.asked == [("/schemas/ids/7", None)]


@pytest.mark.parametrize(
    ("configs", "login", "header"),
    [
        ({"basic.auth.user.info": "ann:open"}, "", "Basic YW5uOm9wZW4="),
        ({"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": "ann:open"}, "", "Basic YW5uOm9wZW4="),
        ({"schema.registry.basic.auth.user.info": "ann:open"}, "", "Basic YW5uOm9wZW4="),
        ({}, "ann:op%65n@", "Basic YW5uOm9wZW4="),
        ({"bearer.auth.credentials.source": "STATIC_TOKEN", "bearer.auth.token": "open"}, "", "Bearer open"),
    ],
)
def test_credentials_let_in(server: Scripted, configs: dict[str, str], login: str, header: str) -> None:
    server.answers = [(200, {"schema": '"long"'})]
    assert reading(server.url.replace("//", f"//{login}"), configs).deserialize(MESSAGE) == 1
    assert server.asked == [("/schemas/ids/7", header)]


def test_credentials_are_not_passed_on_to_another_server(server: Scripted) -> None:
    server.answers = [(302, f"{server.url}/elsewhere"), (200, {"schema": '"long"'})]
    assert reading(server.url, {"bearer.auth.token": "open"}).deserialize(MESSAGE) == 1
    assert server.asked == [("/schemas/ids/7", "Bearer open"), ("/elsewhere", None)]


@pytest.mark.parametrize("status", [401, 403])
def test_wrong_credentials_are_named_as_the_reason_but_not_shown(server: Scripted, status: int) -> None:
    server.answers = [(status, {"message": "no"})]
    with pytest.raises(SchemaRegistryError, match="refuses the credentials") as caught:
        reading(server.url, {"basic.auth.user.info": "ann:open-sesame"}).deserialize(MESSAGE)
    assert "sesame" not in str(caught.value)


def test_what_fails_for_a_moment_is_tried_again(server: Scripted) -> None:
    server.answers = [(503, {}), (200, {"schema": '"long"'})]
    assert reading(server.url).deserialize(MESSAGE) == 1


def test_a_registry_behind_another_address_is_asked(server: Scripted) -> None:
    server.answers = [(200, {"schema": '"long"'})]
    assert reading(f"{NOBODY},{server.url}").deserialize(MESSAGE) == 1


def test_a_registry_that_stays_broken_is_reported(server: Scripted) -> None:
    server.answers = [(500, {"message": "out of order"})] * 3
    with pytest.raises(SchemaRegistryError, match=r"cannot be reached: http://127\S*: HTTP 500 out of order"):
        reading(server.url).deserialize(MESSAGE)


def test_a_registry_that_is_not_there_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_PAUSES", ())
    with pytest.raises(SchemaRegistryError, match=f"cannot be reached: {NOBODY}: .*refused"):
        reading(NOBODY).deserialize(MESSAGE)


def test_the_message_is_not_to_blame_for_the_registry() -> None:
    assert not issubclass(SchemaRegistryError, MalformedRecordError)
    assert issubclass(SchemaRegistryError, ConnectionError)


@pytest.mark.parametrize(
    ("answer", "error", "complaint"),
    [
        ((404, {"error_code": 40403}), MalformedRecordError, "there is no schema 7"),
        ((200, {"schema": "message M {}", "schemaType": "PROTOBUF"}), UnsupportedError, "is PROTOBUF, not AVRO"),
        ((200, {"schema": '"B"', "references": [{"name": "B"}]}), UnsupportedError, "refers to other schemas"),
        ((422, {"message": "what?"}), SchemaRegistryError, "HTTP 422 what?"),
    ],
)
def test_other_answers_are_reported(server: Scripted, answer: Any, error: Any, complaint: str) -> None:
    server.answers = [answer]
    with pytest.raises(error, match=complaint):
        reading(server.url).deserialize(MESSAGE)


@pytest.mark.parametrize(
    ("url", "configs", "error", "complaint"),
    [
        ("", {}, ArgumentError, "no address"),
        ("registry:8081", {}, ArgumentError, "such as http://registry:8081"),
        ("file:///etc/passwd", {}, ArgumentError, "such as http://registry:8081"),
        (NOBODY, {"basic.auth.credentials.source": "USER_INFO"}, ArgumentError, "set basic.auth.user.info"),
        (NOBODY, {"bearer.auth.credentials.source": "STATIC_TOKEN"}, ArgumentError, "set bearer.auth.token"),
        (NOBODY, {"basic.auth.credentials.source": "SASL_INHERIT"}, UnsupportedError, "come from"),
        (NOBODY, {"schema.registry.ssl.truststore.location": "x.jks"}, UnsupportedError, "set ssl.ca.location"),
        (NOBODY, {"auto.register.schemas": "false"}, UnsupportedError, "auto.register.schemas"),
        (NOBODY, {"schema.registry.request.timeout.ms": "soon"}, ArgumentError, "whole number"),
    ],
)
def test_wrong_settings_are_refused(url: str, configs: dict[str, str], error: Any, complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        reading(url, configs)


def test_a_certificate_that_is_not_there_is_named() -> None:
    with pytest.raises(ArgumentError, match="certificates for the schema registry cannot be read"):
        reading(NOBODY, {"ssl.ca.location": "/nowhere.pem"}).deserialize(MESSAGE)


def test_secrets_are_not_shown() -> None:
    configs = {"basic.auth.user.info": "ann:sesame", "bearer.auth.token": "sesame"}
    url = "http://bob:sesame@registry:8081"
    shown = [repr(reading(url, configs)), repr(ConfluentRegistryAvroSerializationSchema.for_generic("s", NUMBER, url))]
    assert all("http://registry:8081" in text and "sesame" not in text for text in shown)
    with pytest.raises(ArgumentError) as caught:
        reading("ftp://bob:sesame@registry:8081")
    assert "sesame" not in str(caught.value)
