"""Connections to Kinesis and Firehose by botocore, and the meaning of their errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from scurry._dataclasses import dataclass
from scurry.common._optional import optional_module
from scurry.connectors.kafka.client import ClientPool
from scurry.connectors.kinesis.credentials import DETAILS, LONG, PROVIDER, SHORT, AwsCredentials
from scurry.connectors.queues.receiving import PATIENCE_SECONDS
from scurry.errors import (
    ArgumentError,
    ConnectorError,
    SinkConnectionError,
    SourceConnectionError,
    SourceNotFoundError,
)
from scurry.errors.suggestions import similar_name

T = TypeVar("T")

REGION, ENDPOINT, TRUST_ALL = "aws.region", "aws.endpoint", "aws.trust.all.certificates"
#: Seconds in which a connection is made.
_CONNECT_SECONDS = 2.0
#: Pause between attempts at a request, in seconds: a shard answers five requests a second.
_PAUSE_SECONDS = 0.25
#: Seconds in which the service answers: a request may have megabytes.
_READ_SECONDS = 30.0
#: Codes of errors of a service that has too much to do.
BUSY_CODES = {
    "ProvisionedThroughputExceededException",
    "LimitExceededException",
    "KMSThrottlingException",
    "ThrottlingException",
    "ServiceUnavailableException",
    "InternalFailure",
    "InternalFailureException",
    "ServiceUnavailable",
}
#: Codes of errors of credentials.
_DENIED = (
    "AccessDenied",
    "ExpiredToken",
    "IncompleteSignature",
    "InvalidClientToken",
    "InvalidSignature",
    "MissingAuthenticationToken",
    "NotAuthorized",
    "OptInRequired",
    "SignatureDoesNotMatch",
    "UnrecognizedClient",
)


def botocore() -> Any:
    """Return the package `botocore`.

    Raises:
        ExtraMissingError: It is not installed.
    """
    return optional_module("Kinesis", "botocore", "kinesis", "botocore", "botocore.config", "botocore.exceptions")


@dataclass(frozen=True)
class AwsService:
    """A service of AWS in a region; picklable.

    Attributes:
        region: The region; None for that of the environment or of the profile.
        endpoint: The service's address; None for that of the region.
        credentials: Source of keys.
        trusts_all: Whether certificates are not checked.
        name: `kinesis` or `firehose`.
    """

    region: str | None = None
    endpoint: str | None = None
    credentials: AwsCredentials = AwsCredentials()
    trusts_all: bool = False
    name: str = "kinesis"

    @staticmethod
    def of(values: Mapping[str, str], name: str = "kinesis") -> AwsService:
        """Return the service that options `aws.*` name.

        Args:
            values: The options; those that do not begin with `aws.` are passed over.
            name: The service.

        Raises:
            ArgumentError: An option is unknown, or has a wrong value.
            UnsupportedError: An option names a class of Java.
        """
        known = [REGION, ENDPOINT, TRUST_ALL, PROVIDER, *(p + each for each in DETAILS for p in (SHORT, LONG))]
        without_effect = ("aws.http.protocol.version", "aws.http-client.")
        nested = f"{LONG}role.provider.", f"{SHORT}role.provider."
        for key in values:
            if key.startswith("aws.") and key not in known and not key.startswith((*without_effect, *nested)):
                close = similar_name(key, known)
                raise ArgumentError(f"unknown option '{key}'").with_hint(f"did you mean '{close}'?" if close else "")
        trust = values.get(TRUST_ALL, "false").lower()
        if trust not in ("true", "false"):
            raise ArgumentError(f"'{TRUST_ALL}' is true or false, got '{trust}'")
        return AwsService(values.get(REGION), values.get(ENDPOINT), AwsCredentials.of(values), trust == "true", name)

    @property
    def place(self) -> str:
        """Return the region and the address, for messages."""
        return f"{self.name.capitalize()} at {self.endpoint or self.region or 'the region of the environment'}"

    def create(self) -> Any:
        """Return a new client of botocore, which threads may share.

        Raises:
            ArgumentError: There is no region, or no such profile.
        """
        module = botocore()
        config = module.config.Config(
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_READ_SECONDS,
            retries={"total_max_attempts": 1, "mode": "standard"},
            max_pool_connections=_MOST_CONNECTIONS,
        )
        try:
            return self.credentials.session().create_client(
                self.name,
                region_name=self.region,
                endpoint_url=self.endpoint,
                verify=False if self.trusts_all else None,
                config=config,
            )
        except (module.exceptions.BotoCoreError, ValueError) as error:
            raise ArgumentError(f"{self.place}: {error}; check {REGION}, {ENDPOINT} and {PROVIDER}") from None

    def ask(self, target: str, reads: bool, request: Callable[[Any], T]) -> T:
        """Return the answer to a request, made with a pooled client.

        Args:
            target: The stream, for messages.
            reads: Whether it is a source that asks.
            request: Makes the request with a client.

        Raises:
            RequestError: The service cannot be reached, or fails the request.
        """
        module = botocore()
        client = CLIENTS.take(self, self.create)
        try:
            return request(client)
        except (module.exceptions.BotoCoreError, module.exceptions.ClientError) as error:
            raise self._failure(target, reads, error) from None
        finally:
            CLIENTS.give(self, client)

    def _failure(self, target: str, reads: bool, error: Any) -> RequestError:
        answer = getattr(error, "response", None)
        kind: type[ConnectorError] = SourceConnectionError if reads else SinkConnectionError
        if answer is None:
            text = " ".join(str(error).split())
            if type(error).__name__ in ("NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"):
                told = kind(f"{self.place}: {text}; set {PROVIDER}, or AWS_ACCESS_KEY_ID in the environment")
                return RequestError(told, Failure.REFUSED)
            told = kind(f"{self.place}: {text}; check {ENDPOINT} and {REGION}, and that the service can be reached")
            return RequestError(told, Failure.AWAY)
        code = answer.get("Error", {}).get("Code", "")
        text = f"{code}: {answer.get('Error', {}).get('Message', '')}".rstrip(": ")
        if code == "ExpiredIteratorException":
            return RequestError(kind(f"{self.place}: {target}: {text}"), Failure.EXPIRED)
        if code in BUSY_CODES or answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= 500:
            return RequestError(kind(f"{self.place}: {target}: {text}"), Failure.BUSY)
        if code == "ResourceNotFoundException":
            missing: type[ConnectorError] = SourceNotFoundError if reads else SinkConnectionError
            told = missing(f"{self.place}: {text}; check the name of the stream {target!r}, and {REGION}")
            return RequestError(told, Failure.REFUSED)
        if any(word in code for word in _DENIED):
            told = kind(f"{self.place} refuses the request ({text}); check aws.credentials.* and their rights")
            return RequestError(told, Failure.REFUSED)
        return RequestError(kind(f"{self.place}: {target}: {text}"), Failure.REFUSED)


class Failure(Enum):
    """True if a request may succeed later: the service is away or has too much to do, an iterator is too old."""

    AWAY = "away"
    BUSY = "busy"
    EXPIRED = "expired"
    REFUSED = "refused"


class RequestError(Exception):
    """A request failed.

    Attributes:
        error: The error of the job.
        failure: Its consequence.
    """

    def __init__(self, error: ConnectorError, failure: Failure) -> None:
        super().__init__(str(error))
        self.error = error
        self.failure = failure


def patiently(ask: Callable[[], T]) -> T:
    """Return the result of a function, which is called again for a while if the service is away.

    Raises:
        SourceConnectionError: The service of a source fails the request, or has been away for too long.
        SinkConnectionError: That of a sink does.
        SourceNotFoundError: There is no such stream.
    """
    give_up = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except RequestError as error:
            if error.failure is Failure.REFUSED or time.monotonic() > give_up:
                raise error.error from None
            time.sleep(_PAUSE_SECONDS)


#: Connections of a client: requests of the driver to shards run side by side.
_MOST_CONNECTIONS = 16

#: The pool of this process's clients.
CLIENTS: ClientPool[Any] = ClientPool()
