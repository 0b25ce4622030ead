"""Model providers: their options, which models are made with, and their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import scurry.dataframe as pf
from scurry.dataframe import model_provider
from scurry.table import DataTypes, Schema
from scurry.table.model_descriptor import ModelDescriptor


@pytest.fixture(autouse=True)
def no_providers() -> Iterator[None]:
    model_provider._registry = model_provider._Registry()
    yield
    model_provider._registry = model_provider._Registry()


def test_settings_become_options() -> None:
    provider = pf.OpenAIProvider("http://h/v1/chat/completions", "secret", model="m", top_p=0.5, max_tokens=5, n=1)
    assert provider.to_options() == {
        "endpoint": "http://h/v1/chat/completions", "api-key": "secret", "model": "m", "top-p": "0.5",
        "max-tokens": "5", "n": "1",
    }  # fmt: skip
    assert provider.to_options() is not provider.to_options()
    assert (provider.provider_identifier(), provider.model_option_key()) == ("openai", "model")
    assert "secret" not in repr(provider)
    triton = pf.TritonProvider("http://h", flatten_batch_dim=True, custom_headers={"a": "b"}, priority=0)
    assert triton.to_options() == {
        "endpoint": "http://h", "flatten-batch-dim": "true", "priority": "0", "custom-headers": '{"a": "b"}'
    }  # fmt: skip
    generic = pf.GenericProvider("mine", **{"a-b": "c"})
    assert (generic.provider_identifier(), generic.to_options()) == ("mine", {"a-b": "c"})


def test_models_are_made_with_them() -> None:
    provider = pf.OpenAIProvider("http://localhost:1/v1/chat/completions", "secret", model="m", temperature=0.5)
    builder = ModelDescriptor.for_provider(provider.provider_identifier())
    for key, value in provider.to_options().items():
        builder = builder.option(key, value)
    text = Schema.new_builder().column("text", DataTypes.STRING()).build()
    answer = Schema.new_builder().column("answer", DataTypes.STRING()).build()
    environment = pf.get_or_create_table_environment()
    environment.create_temporary_model("m", builder.input_schema(text).output_schema(answer).build())
    questions = pf.from_dict({"text": ["hello"]})
    found = pf.sql("SELECT * FROM ML_PREDICT(TABLE questions, MODEL m, DESCRIPTOR(text))")
    assert found.columns == ["text", "answer"]
    assert questions.columns == ["text"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pf.OpenAIProvider("", "k"), "endpoint must not be empty"),
        (lambda: pf.OpenAIProvider("u", 1), "api_key must be a string"),  # type: ignore[arg-type]
        (lambda: pf.OpenAIProvider("u", "k", max_tokens=0), "max_tokens must be at least 1, got 0"),
        (lambda: pf.OpenAIProvider("u", "k", temperature=float("nan")), "temperature must be finite, got nan"),
        (lambda: pf.TritonProvider("u", priority=256), "priority must be at most 255, got 256"),
        (lambda: pf.TritonProvider("u", compression="x"), "compression must be one of"),
        (lambda: pf.TritonProvider("u", circuit_breaker_failure_threshold=0), "must be greater than 0, got 0"),
        (lambda: pf.TritonProvider("u", circuit_breaker_failure_threshold=2), "must be at most 1, got 2"),
        (lambda: pf.TritonProvider("u", circuit_breaker_half_open_requests=0), "must be at least 1, got 0"),
        (lambda: pf.GenericProvider("x", a=1), "option 'a' must have a string value"),  # type: ignore[arg-type]
    ],
)
def test_wrong_settings(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_names_and_the_default() -> None:
    first, second = pf.GenericProvider("a"), pf.GenericProvider("b")
    resolve = model_provider._resolve_model_provider
    with pytest.raises(ValueError, match="No model provider is registered"):
        resolve()
    pf.set_model_provider(first)
    assert resolve() is first
    pf.set_model_provider(provider=second)
    pf.set_model_provider("c", first)
    with pytest.raises(ValueError, match="Multiple model providers are registered; "):
        resolve()
    pf.set_default_model_provider("b")
    pf.set_model_provider("b", first)
    assert resolve() is first
    assert pf.list_model_providers() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="Model provider 'x' is not registered"):
        pf.set_default_model_provider("x")


@pytest.mark.parametrize("args", [(), ("a",), (1, 2), ("a", "b"), ("a", 1, 2)])
def test_wrong_registrations(args: Any) -> None:
    with pytest.raises(TypeError):
        pf.set_model_provider(*args)
