"""Credentials of AWS by the keys of Flink's connectors, for sessions of botocore."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Self

from scurry._dataclasses import dataclass
from scurry.errors import ArgumentError, UnsupportedError

#: The key that names the provider, in tables and in properties of clients; those of its details begin with either.
PROVIDER = "aws.credentials.provider"
SHORT, LONG = "aws.credentials.", "aws.credentials.provider."
#: Endings of the keys of a provider's details.
DETAILS = (
    "basic.accesskeyid",
    "basic.secretkey",
    "profile.path",
    "profile.name",
    "role.arn",
    "role.sessionName",
    "role.externalId",
    "role.stsEndpoint",
    "role.provider",
    "webIdentityToken.file",
    "custom.class",
)
_PROVIDERS = ("AUTO", "BASIC", "ENV_VAR", "PROFILE", "ASSUME_ROLE", "WEB_IDENTITY_TOKEN")


@dataclass(frozen=True)
class AwsCredentials:
    """Source of the keys of requests; picklable.

    Attributes:
        provider: AUTO (the chain of AWS), BASIC, ENV_VAR, PROFILE, ASSUME_ROLE or WEB_IDENTITY_TOKEN.
        access_key: The access key of BASIC; not shown.
        secret_key: Its secret key; not shown.
        profile: Name of the profile.
        profile_path: The file of profiles.
        role: ARN of the role.
        role_session: Name of its sessions.
        external_id: The id that the role's owner asks for; not shown.
        sts_endpoint: Address of the service that gives the role's keys.
        base: The credentials that assume the role.
        token_file: The file with the token of a web identity.
    """

    provider: str = "AUTO"
    access_key: str | None = field(default=None, repr=False)
    secret_key: str | None = field(default=None, repr=False)
    profile: str | None = None
    profile_path: str | None = None
    role: str | None = None
    role_session: str = "scurry"
    external_id: str | None = field(default=None, repr=False)
    sts_endpoint: str | None = None
    base: Self | None = None
    token_file: str | None = None

    @staticmethod
    def of(values: Mapping[str, str]) -> AwsCredentials:
        """Return the credentials that options name.

        Raises:
            ArgumentError: There is no such provider, or one of its options is missing.
            UnsupportedError: The provider exists in Java only.
        """
        short = {
            SHORT + key.removeprefix(LONG) if key.startswith(LONG) else key: value
            for key, value in values.items()
            if key.startswith(SHORT)
        }
        return _credentials(short, PROVIDER, SHORT)

    def session(self) -> Any:
        """Return a session of botocore that has these credentials."""
        import botocore.session

        session = botocore.session.Session(profile=self.profile)
        if self.profile_path is not None:
            session.set_config_variable("credentials_file", self.profile_path)
        if self.provider == "BASIC":
            session.set_credentials(self.access_key, self.secret_key)
        elif self.provider == "ENV_VAR":
            session.set_credentials(*_of_environment())
        elif self.provider in ("ASSUME_ROLE", "WEB_IDENTITY_TOKEN"):
            session._credentials = self._of_role(session)
        return session

    def _of_role(self, session: Any) -> Any:
        """Return the credentials of a role, which botocore renews before they end."""
        from botocore import credentials
        from botocore.utils import FileWebIdentityTokenLoader

        def create(service: str, **given: Any) -> Any:
            return session.create_client(service, **{**given, "endpoint_url": self.sts_endpoint})

        extra = {"RoleSessionName": self.role_session}
        if self.external_id is not None:
            extra["ExternalId"] = self.external_id
        if self.provider == "ASSUME_ROLE":
            base = (self.base or AwsCredentials()).session().get_credentials()
            fetcher = credentials.AssumeRoleCredentialFetcher(create, base, self.role, extra_args=extra)
        else:
            token = self.token_file or os.environ.get("AWS_WEB_IDENTITY_TOKEN_FILE")
            role = self.role or os.environ.get("AWS_ROLE_ARN")
            if token is None or role is None:
                raise ArgumentError(
                    "the provider WEB_IDENTITY_TOKEN needs aws.credentials.webIdentityToken.file and "
                    "aws.credentials.role.arn, or AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN in the environment"
                )
            fetcher = credentials.AssumeRoleWithWebIdentityCredentialFetcher(
                create, FileWebIdentityTokenLoader(token), role, extra_args={"RoleSessionName": self.role_session}
            )
        return credentials.DeferredRefreshableCredentials(fetcher.fetch_credentials, self.provider)


def _of_environment() -> tuple[str, str, str | None]:
    try:
        access, secret = os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"]
    except KeyError as missing:
        raise ArgumentError(f"the provider ENV_VAR needs {missing.args[0]} in the environment") from None
    return access, secret, os.environ.get("AWS_SESSION_TOKEN")


def _credentials(values: Mapping[str, str], provider_key: str, prefix: str) -> AwsCredentials:
    def given(name: str) -> str | None:
        return values.get(prefix + name)

    access, secret = given("basic.accesskeyid"), given("basic.secretkey")
    provider = values.get(provider_key) or ("BASIC" if access and secret else "AUTO")
    if provider in ("SYS_PROP", "CUSTOM"):
        raise UnsupportedError(
            f"'{provider_key}' = '{provider}' exists in Java only; use one of {', '.join(_PROVIDERS)}"
        )
    if provider not in _PROVIDERS:
        raise ArgumentError(f"'{provider_key}' must be one of {', '.join(_PROVIDERS)}, got '{provider}'")
    needed = {"BASIC": ("basic.accesskeyid", "basic.secretkey"), "ASSUME_ROLE": ("role.arn",)}.get(provider, ())
    missing = [prefix + name for name in needed if not given(name)]
    if missing:
        raise ArgumentError(f"'{provider_key}' = '{provider}' needs '{missing[0]}'")
    base = None
    if provider == "ASSUME_ROLE":
        base = _credentials(values, f"{prefix}role.provider", f"{prefix}role.provider.")
    return AwsCredentials(
        provider,
        access if provider == "BASIC" else None,
        secret if provider == "BASIC" else None,
        (given("profile.name") or "default") if provider == "PROFILE" else None,
        given("profile.path") if provider == "PROFILE" else None,
        given("role.arn"),
        given("role.sessionName") or "scurry",
        given("role.externalId"),
        given("role.stsEndpoint"),
        base,
        given("webIdentityToken.file"),
    )
