"""Model providers: settings of servers of models, under names. `create_model` of the Table API takes their options."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from scurry.dataframe.validation import require_choice, require_integer, require_number, require_text
from scurry.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "GenericProvider",
    "ModelProvider",
    "OpenAIProvider",
    "TritonProvider",
    "list_model_providers",
    "set_default_model_provider",
    "set_model_provider",
]


class ModelProvider(ABC):
    """Settings of a server of models.

    Example:
        ```python
        provider = pf.OpenAIProvider("http://localhost:8000/v1/chat/completions", "key", model="small")
        builder = ModelDescriptor.for_provider(provider.provider_identifier())
        for key, value in provider.to_options().items():
            builder = builder.option(key, value)
        ```
    """

    @abstractmethod
    def provider_identifier(self) -> str:
        """Return the name of the provider, as the option `provider` of CREATE MODEL has it."""

    @abstractmethod
    def to_options(self) -> dict[str, str]:
        """Return the options of CREATE MODEL, in a new dict; secrets are among them."""

    def model_option_key(self) -> str:
        """Return the option that names the model on the server."""
        return "model"

    def __repr__(self) -> str:
        """Return the class; settings may have secrets."""
        return f"<{type(self).__name__} {self.provider_identifier()}>"


def _text(name: str, value: Any) -> str:
    """Return a setting as an option."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    raise ArgumentTypeError(f"{name} must be a string, a number or a bool, got {type(value).__name__}")


def _options(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return settings as options; those that are None are left out."""
    return {name.replace("_", "-"): _text(name, value) for name, value in settings.items() if value is not None}


class OpenAIProvider(ModelProvider):
    """A server that speaks OpenAI's protocol: chat completions, or embeddings.

    Args:
        endpoint: Its URL.
        api_key: The key that authorises calls.
        model: The name of the model on the server.
        system_prompt: The instruction before each text.
        temperature: How random answers are, at least 0.
        top_p: The probability up to which tokens are considered.
        max_tokens: The most tokens of an answer, at least 1.
        stop: Texts before which an answer ends, separated by commas.
        presence_penalty: How much new words are preferred.
        n: The number of answers, at least 1.
        seed: Makes answers as repeatable as the server can.
        response_format: `text` or `json_object`.
        dimension: The length of vectors, at least 1.
        max_context_size: The most tokens of a text, at least 1.
        context_overflow_action: The treatment of longer texts.
        error_handling_strategy: The treatment of a call that fails.
        retry_num: How often a call is made again, at least 0.
        retry_fallback_strategy: The treatment of a call that fails again.

    Raises:
        TypeError: A setting is something else.
        ValueError: It is out of its bounds.
    """

    def __init__(
        self,
        endpoint: str,
        api_key: str,
        *,
        model: str | None = None,
        system_prompt: str | None = None,
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: int | None = None,
        stop: str | None = None,
        presence_penalty: float | None = None,
        n: int | None = None,
        seed: int | None = None,
        response_format: str | None = None,
        dimension: int | None = None,
        max_context_size: int | None = None,
        context_overflow_action: str | None = None,
        error_handling_strategy: str | None = None,
        retry_num: int | None = None,
        retry_fallback_strategy: str | None = None,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        require_text("endpoint", endpoint)
        require_text("api_key", api_key)
        _check(settings, {"max_tokens": 1, "n": 1, "seed": None, "dimension": 1, "max_context_size": 1, "retry_num": 0})
        for name, least in {"temperature": 0.0, "top_p": 0.0, "presence_penalty": None}.items():
            if settings[name] is not None:
                require_number(name, settings[name], least)
        self._settings = settings

    def provider_identifier(self) -> str:
        """Return `openai`."""
        return "openai"

    def to_options(self) -> dict[str, str]:
        """Return the options of CREATE MODEL, in a new dict; the key is among them."""
        return _options(self._settings)


class TritonProvider(ModelProvider):
    """A Triton Inference Server. CREATE MODEL of Flink takes it; scurry has no such provider.

    Args:
        endpoint: Its URL.
        model_name: The name of the model on the server.
        model_version: Its version.
        timeout: The time that a call may take.
        flatten_batch_dim: Whether the dimension of the batch is left out.
        priority: The priority of calls, 0 to 255.
        sequence_id: The sequence that calls belong to.
        sequence_start: Whether a call begins a sequence.
        sequence_end: Whether a call ends a sequence.
        compression: `gzip`, or None.
        auth_token: The token that authorises calls.
        custom_headers: Further headers.
        max_retries: How often a call is made again, at least 0.
        retry_initial_backoff: The time before the first repetition.
        retry_max_backoff: The longest time before a repetition.
        default_value: The answer where all calls failed.
        health_check_enabled: Whether the server is asked for its health.
        health_check_interval: How often.
        circuit_breaker_enabled: Whether calls stop while the server fails.
        circuit_breaker_failure_threshold: The share of failures that stops calls: more than 0, at most 1.
        circuit_breaker_timeout: How long they stop.
        circuit_breaker_half_open_requests: The calls that try the server then, at least 1.

    Raises:
        TypeError: A setting is something else.
        ValueError: It is out of its bounds.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        model_name: str | None = None,
        model_version: str | None = None,
        timeout: str | None = None,
        flatten_batch_dim: bool | None = None,
        priority: int | None = None,
        sequence_id: str | None = None,
        sequence_start: bool | None = None,
        sequence_end: bool | None = None,
        compression: str | None = None,
        auth_token: str | None = None,
        custom_headers: Mapping[str, str] | None = None,
        max_retries: int | None = None,
        retry_initial_backoff: str | None = None,
        retry_max_backoff: str | None = None,
        default_value: str | None = None,
        health_check_enabled: bool | None = None,
        health_check_interval: str | None = None,
        circuit_breaker_enabled: bool | None = None,
        circuit_breaker_failure_threshold: float | None = None,
        circuit_breaker_timeout: str | None = None,
        circuit_breaker_half_open_requests: int | None = None,
    ) -> None:
        settings = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        require_text("endpoint", endpoint)
        _check(settings, {"priority": 0, "max_retries": 0, "circuit_breaker_half_open_requests": 1})
        if priority is not None and priority > 255:
            raise ArgumentError(f"priority must be at most 255, got {priority}")
        if compression is not None:
            require_choice("compression", compression, ("gzip",))
        threshold = circuit_breaker_failure_threshold
        if threshold is not None:
            require_number("circuit_breaker_failure_threshold", threshold)
            if threshold <= 0:
                raise ArgumentError(f"circuit_breaker_failure_threshold must be greater than 0, got {threshold}")
            if threshold > 1:
                raise ArgumentError(f"circuit_breaker_failure_threshold must be at most 1, got {threshold}")
        self._settings = settings

    def provider_identifier(self) -> str:
        """Return `triton`."""
        return "triton"

    def model_option_key(self) -> str:
        """Return the option that names the model on the server."""
        return "model-name"

    def to_options(self) -> dict[str, str]:
        """Return the options of CREATE MODEL, in a new dict; the token is among them."""
        return _options(self._settings)


class GenericProvider(ModelProvider):
    """Any provider, by its options.

    Args:
        identifier: The name of the provider.
        **options: Its options as texts; those with other characters than names of Python are given by `**{...}`.

    Raises:
        TypeError: The name or an option is no text.
        ValueError: The name is empty.
    """

    def __init__(self, identifier: str, /, **options: str) -> None:
        self._identifier = require_text("identifier", identifier)
        for name, value in options.items():
            if not isinstance(value, str):
                raise ArgumentTypeError(f"option '{name}' must have a string value")
        self._given = dict(options)

    def provider_identifier(self) -> str:
        """Return the name of the provider."""
        return self._identifier

    def to_options(self) -> dict[str, str]:
        """Return the options of CREATE MODEL, in a new dict."""
        return dict(self._given)


def _check(settings: Mapping[str, Any], least: Mapping[str, int | None]) -> None:
    for name, smallest in least.items():
        if settings[name] is not None:
            require_integer(name, settings[name], smallest)


class _Registry:
    """The providers of this process by name, in the order of their first registration."""

    def __init__(self) -> None:
        self.providers: dict[str, ModelProvider] = {}
        self.default: str | None = None


_registry = _Registry()


def set_model_provider(*args: Any, **kwargs: Any) -> None:
    """Register a provider: `set_model_provider(provider)`, or `set_model_provider(name, provider)`.

    Args:
        *args: The provider; or its name and the provider. Without a name it has that of its kind, such as `openai`.
        **kwargs: `name` and `provider`.

    Raises:
        TypeError: It is no provider, or the name no text.
        ValueError: The name is empty.
    """
    names = ["provider"] if len(args) == 1 and "provider" not in kwargs else ["name", "provider"]
    if len(args) > 2 or set(kwargs) - {"name", "provider"} or set(names[: len(args)]) & set(kwargs):
        raise ArgumentTypeError("set_model_provider() takes a provider, or a name and a provider")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    provider = given.get("provider")
    if not isinstance(provider, ModelProvider):
        raise ArgumentTypeError("provider must be a ModelProvider")
    name = given.get("name")
    _registry.providers[provider.provider_identifier() if name is None else require_text("name", name)] = provider


def set_default_model_provider(name: str) -> None:
    """Choose the provider that is meant where no other one is named.

    Args:
        name: Its name.

    Raises:
        TypeError: The name is no text.
        ValueError: No provider has that name.
    """
    require_text("name", name)
    if name not in _registry.providers:
        raise ArgumentError(f"Model provider '{name}' is not registered")
    _registry.default = name


def list_model_providers() -> list[str]:
    """Return the names of the providers, in the order of their first registration."""
    return list(_registry.providers)


def _resolve_model_provider(name: str | None = None) -> ModelProvider:
    """Return the provider of a name; without one the default, or the only one.

    Raises:
        ValueError: There is no such provider, or there are several and no default.
    """
    chosen = name or _registry.default
    if chosen is not None:
        if chosen not in _registry.providers:
            raise ArgumentError(f"Model provider '{chosen}' is not registered")
        return _registry.providers[chosen]
    if not _registry.providers:
        raise ArgumentError("No model provider is registered")
    if len(_registry.providers) > 1:
        raise ArgumentError("Multiple model providers are registered; call set_default_model_provider(name)")
    return next(iter(_registry.providers.values()))
