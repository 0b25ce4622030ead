"""A client of schema registries with Confluent's API: Confluent, Apicurio, Karapace, Redpanda."""

# Not that of confluent-kafka: it needs httpx and authlib, and messages of files and other queues have schemas, too.
from __future__ import annotations

import functools
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from scurry.connectors.avro.registry_settings import RegistrySettings
from scurry.connectors.avro.schema import AvroSchema
from scurry.errors import MalformedRecordError, SchemaRegistryError, UnsupportedError

_JSON = "application/vnd.schemaregistry.v1+json"
#: Pauses before a request is retried, in seconds.
_PAUSES = (0.2, 1.0, 3.0)


@functools.lru_cache(maxsize=64)
def registry_at(settings: RegistrySettings) -> SchemaRegistry:
    """Return the process's client for a registry; its cache never expires, because schemas never change."""
    return SchemaRegistry(settings)


class SchemaRegistry:
    """Look up schemas by id, and register schemas."""

    def __init__(self, settings: RegistrySettings) -> None:
        self._settings = settings
        self._opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=settings.tls()))
        self._schemas: dict[int, AvroSchema] = {}
        self._numbers: dict[tuple[str, AvroSchema], int] = {}

    def schema(self, number: int) -> AvroSchema:
        """Return the schema of an id.

        Raises:
            MalformedRecordError: No schema has the number, so the message does not belong to this registry.
            UnsupportedError: The schema is not an Avro schema, or refers to other schemas.
            SchemaRegistryError: The registry does not answer, or denies access.
        """
        known = self._schemas.get(number)
        if known is None:
            known = self._schemas[number] = self._fetched(number)
        return known

    def _fetched(self, number: int) -> AvroSchema:
        status, answer = self._ask(f"/schemas/ids/{number}")
        if status == 404:
            raise MalformedRecordError("Avro message", None, "", f"there is no schema {number} at {self._settings}")
        self._check(status, answer, f"give schema {number}")
        if answer.get("schemaType", "AVRO") != "AVRO":
            raise UnsupportedError(f"schema {number} at {self._settings} is {answer['schemaType']}, not AVRO")
        if answer.get("references"):
            names = ", ".join(str(reference.get("name")) for reference in answer["references"])
            raise UnsupportedError(
                f"schema {number} at {self._settings} refers to other schemas ({names}); register it with these "
                "written out"
            )
        return AvroSchema(answer["schema"])

    def register(self, subject: str, schema: AvroSchema) -> int:
        """Return the id of a schema; register it as the subject's newest version unless it is already a version.

        Raises:
            SchemaRegistryError: The registry does not answer, or rejects the schema, for example because it is not
                compatible with earlier versions.
        """
        known = self._numbers.get((subject, schema))
        if known is None:
            path = f"/subjects/{urllib.parse.quote(subject, safe='')}/versions"
            status, answer = self._ask(path, {"schema": str(schema), "schemaType": "AVRO"})
            self._check(status, answer, f"take the schema of {subject!r}")
            known = self._numbers[subject, schema] = int(answer["id"])
        return known

    def _check(self, status: int, answer: dict[str, Any], wish: str) -> None:
        if status in (401, 403):
            raise SchemaRegistryError(
                f"the schema registry {self._settings} refuses the credentials (HTTP {status}); see "
                "basic.auth.user.info and bearer.auth.token"
            )
        if status == 409:
            raise SchemaRegistryError(
                f"the schema registry {self._settings} does not {wish}: it is not compatible with earlier versions: "
                f"{answer.get('message', '')}"
            )
        if status >= 300:
            raise SchemaRegistryError(
                f"the schema registry {self._settings} does not {wish}: HTTP {status} {answer.get('message', '')}"
            )

    def _ask(self, path: str, body: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
        """Return status and body of the first address that answers; retry a few times."""
        reasons: dict[str, str] = {}
        for pause in (*_PAUSES, None):
            for url in self._settings.urls:
                try:
                    status, answer = self._ask_at(url + path, body)
                except (OSError, ValueError, http.client.HTTPException) as error:
                    reasons[url] = str(getattr(error, "reason", error))
                    continue
                if status < 500 and status != 429:
                    return status, answer
                reasons[url] = f"HTTP {status} {answer.get('message', '')}".rstrip()
            if pause is not None:
                time.sleep(pause)
        failures = "; ".join(f"{url}: {reason}" for url, reason in reasons.items())
        raise SchemaRegistryError(f"the schema registry cannot be reached: {failures}")

    def _ask_at(self, url: str, body: dict[str, str] | None) -> tuple[int, dict[str, Any]]:
        headers = {"Accept": f"{_JSON}, application/json", "Content-Type": _JSON}
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, content, headers)
        if self._settings.authorization is not None:  # must not be sent to another server after a redirect
            request.add_unredirected_header("Authorization", self._settings.authorization)
        try:
            with self._opener.open(request, timeout=self._settings.timeout_seconds) as answer:
                return answer.status, _object(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _object(error.read(), strict=False)


def _object(text: bytes, strict: bool = True) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        if strict:
            raise ValueError(f"no answer of a schema registry: {text[:100]!r}") from None
        return {}
    return found if isinstance(found, dict) else {}
