"""Connections to brokers of MQTT, and the reasons of their errors."""

from __future__ import annotations

import time
from dataclasses import field
from typing import Any

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.errors import ConnectorError, SinkConnectionError, SourceConnectionError

#: Seconds in which a broker has to answer.
ANSWER_SECONDS = 4.0
_LOOP_SECONDS = 0.05
_REFUSED = {4, 5, 134, 135}


def mqtt_module() -> Any:
    """Return the module `paho.mqtt.client`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("MQTT", "paho-mqtt", "mqtt", "paho.mqtt.client")


@dataclass(frozen=True)
class MqttBroker:
    """The address of a broker; picklable.

    Attributes:
        host: The name of its machine.
        port: Its port.
        username: The user.
        password: The user's password; not shown.
        tls: Whether the connection is encrypted, with the certificates of the system.
    """

    host: str
    port: int = 1883
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False

    def client(self, client_id: str, keeps_session: bool, acknowledges: bool) -> Any:
        """Return a client that is not connected yet."""
        module = mqtt_module()
        version = module.CallbackAPIVersion.VERSION2
        found = module.Client(version, client_id=client_id, clean_session=not keeps_session, manual_ack=acknowledges)
        if self.username is not None:
            found.username_pw_set(self.username, self.password)
        if self.tls:
            found.tls_set()
        found.connect_timeout = ANSWER_SECONDS
        found.reconnect_delay_set(1, 2)  # otherwise pauses double, beyond the time that a broker may be away
        return found

    def connect(self, client: Any, reads: bool) -> None:
        """Connect a client, whose loop nobody else runs yet.

        Raises:
            SourceConnectionError: A source cannot connect.
            SinkConnectionError: A sink cannot.
        """
        answers: list[Any] = []
        client.on_connect = lambda *given: answers.append(given[3])
        try:
            client.connect(self.host, self.port)
        except (OSError, ValueError) as error:
            raise self.failure(f"{error}; check host and port, and that a broker runs there", reads) from None
        give_up = time.monotonic() + ANSWER_SECONDS
        while not answers:
            code = client.loop(_LOOP_SECONDS)
            if not answers and (code != 0 or time.monotonic() > give_up):
                raise self.failure("it does not answer; check host and port", reads)
        if answers[0].is_failure:
            what = "; check username and password" if answers[0].value in _REFUSED else ""
            raise self.failure(f"it refuses the connection: {answers[0].getName()}{what}", reads)

    def failure(self, why: str, reads: bool) -> ConnectorError:
        """Return the error of a source or a sink."""
        return (SourceConnectionError if reads else SinkConnectionError)(f"MQTT at {self.host}:{self.port}: {why}")
