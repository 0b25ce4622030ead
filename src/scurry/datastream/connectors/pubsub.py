"""Subscriptions and topics of Google Pub/Sub as sources and sinks; PyFlink has none, names are those of Flink's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from scurry.common._api import ApiObject, made_by
from scurry.connectors.messages import MessageSource
from scurry.connectors.pubsub.client import PubSubProject
from scurry.connectors.pubsub.sink import PubSubSink as _PubSubSink
from scurry.connectors.pubsub.source import PubSubMessage, PubSubSubscription
from scurry.datastream.connectors._queues import QueueSinkBuilder, QueueSourceBuilder
from scurry.errors import ArgumentError, UnsupportedError

__all__ = ["PubSubMessage", "PubSubSink", "PubSubSinkBuilder", "PubSubSource", "PubSubSourceBuilder"]


class _WithProject(ApiObject):
    _project: str | None = None
    _emulator: str | None = None
    _credentials_file: str | None = None

    def set_project_name(self, project_name: str) -> Self:
        """Set the id of the project."""
        self._project = project_name
        return self

    def set_host_and_port_for_emulator(self, host_and_port: str) -> Self:
        """Set `host:port` of an emulator; otherwise the variable PUBSUB_EMULATOR_HOST names one, or it is the service.

        Args:
            host_and_port: The address; an emulator wants no credentials.
        """
        self._emulator = host_and_port
        return self

    def set_credentials_file(self, path: str) -> Self:
        """Set the file of credentials; without it they are those of the environment, as Google's clients find them.

        Args:
            path: A file that each machine has.
        """
        self._credentials_file = path
        return self

    def _built_project(self) -> PubSubProject:
        if not self._project:
            raise ArgumentError("no project: call set_project_name")
        return PubSubProject.of(self._project, self._emulator, self._credentials_file)


@made_by("builder")
class PubSubSource(ApiObject, MessageSource):
    """Read a subscription, whose messages are acknowledged when the results of their micro-batch are committed.

    Exactly once: a message that comes again is known by its id, which is in the checkpoint.
    """

    @staticmethod
    def builder() -> PubSubSourceBuilder:
        """Return a builder; the project, the subscription and a deserializer must be set."""
        return PubSubSourceBuilder()


class PubSubSourceBuilder(_WithProject, QueueSourceBuilder):
    """Builder of a PubSubSource."""

    _subscription: str | None = None

    def set_subscription_name(self, subscription_name: str) -> PubSubSourceBuilder:
        """Set the name of the subscription, which must be there."""
        self._subscription = subscription_name
        return self

    def build(self) -> PubSubSource:
        """Return the source.

        Raises:
            ArgumentError: The project, the subscription or the deserializer are missing.
            ExtraMissingError: No emulator is set, and google-auth is not installed.
        """
        decoder, project = self._built_decoder(), self._built_project()
        if not self._subscription:
            raise ArgumentError("nothing to read: call set_subscription_name")
        return PubSubSource(PubSubSubscription(project, self._subscription), decoder, False, self._drop_malformed)


@made_by("builder")
class PubSubSink(ApiObject, _PubSubSink):
    """Publish records to topics, at least once."""

    @staticmethod
    def builder() -> PubSubSinkBuilder:
        """Return a builder; the project, a topic and a serializer must be set."""
        return PubSubSinkBuilder()


class PubSubSinkBuilder(_WithProject, QueueSinkBuilder):
    """Builder of a PubSubSink. The key of a record is its ordering key."""

    target = "topic_name"

    def set_topic_name(self, topic_name: str) -> PubSubSinkBuilder:
        """Set the name of the topic, which must be there."""
        return self._to(topic_name, None)

    def set_topic_name_selector(self, selector: Callable[[Any], str]) -> PubSubSinkBuilder:
        """Publish each record to the topic that a function returns for it."""
        return self._to(None, selector)

    def build(self) -> PubSubSink:
        """Return the sink.

        Raises:
            ArgumentError: The project, the topic or the serializer are missing.
            UnsupportedError: Exactly once is wanted.
            ExtraMissingError: No emulator is set, and google-auth is not installed.
        """
        if self._exactly_once:
            raise UnsupportedError(
                "a PubSubSink writes at least once, because Pub/Sub has no transactions: use AT_LEAST_ONCE"
            )
        serializer = self._built_serializer()
        return PubSubSink(self._built_project(), serializer)
