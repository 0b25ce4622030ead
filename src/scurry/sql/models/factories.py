"""Find the provider of a model, and make the function of the model."""

from __future__ import annotations

import importlib

from scurry.common.redaction import redacted, without_secrets
from scurry.errors import ScurryError, ValidationError
from scurry.errors.suggestions import similar_name
from scurry.sql.catalog.table_options import explained, instead
from scurry.sql.models.contract import ModelContext, ModelProviderFactory, PredictFunction
from scurry.sql.models.settings import PredictSettings

#: identifier -> module and class of its factory, imported when a model uses it
PROVIDERS = {
    "onnx": "scurry.sql.models.local.onnx:OnnxFactory",
    "openai": "scurry.sql.models.openai.factory:OpenAIFactory",
    "python": "scurry.sql.models.local.python:PythonFactory",
    "sklearn": "scurry.sql.models.local.sklearn:SklearnFactory",
}

_ELSEWHERE = {
    "triton": "a class of Python calls any server: 'provider' = 'python', 'class' = 'module.Class'",
}


def create_function(context: ModelContext) -> PredictFunction:
    """Return the function of a model, not opened.

    Raises:
        ValidationError: There is no such provider, or an option or a column of the model is wrong.
    """
    try:
        return _factory(context).function(context)
    except ScurryError as error:
        raise _explained(error, context) from None


def check_model(context: ModelContext, settings: PredictSettings) -> None:
    """Check the options of a model and of a call before anything runs.

    Raises:
        ValidationError: An option is wrong, or the provider does not call as the call wants it.
    """
    function = create_function(context)
    if settings.is_async is not None and settings.is_async != function.is_async:
        wanted, other = ("async", "sync") if settings.is_async else ("sync", "async")
        raise ValidationError(
            f"Require {wanted} mode, but model provider '{context.options['provider']}' doesn't support {wanted} mode."
        ).with_hint(f"leave out 'async' of the call: model {context.name} is called in {other} mode")


def option_names(identifier: str) -> list[str]:
    """Return the options of models of a provider; none if there is no such provider."""
    found = PROVIDERS.get(identifier.lower())
    return [] if found is None else [option.key for option in _imported(found).declared]


def _factory(context: ModelContext) -> ModelProviderFactory:
    identifier = context.options.get("provider")
    if identifier is None:
        closest = similar_name("provider", context.options)
        hint = (
            f"did you mean 'provider' instead of '{closest}'?" if closest else instead([], PROVIDERS, "the providers")
        )
        raise ValidationError(
            "Model options do not contain an option key 'provider' for discovering a provider."
        ).with_hint(hint or f"the providers are {', '.join(PROVIDERS)}")
    found = PROVIDERS.get(identifier.lower())
    if found is None:
        raise ValidationError(f"Could not find any model provider for identifier '{identifier}'.").with_hint(
            _ELSEWHERE.get(identifier.lower(), "") or instead([identifier], PROVIDERS, "the providers")
        )
    return _imported(found)


def _imported(place: str) -> ModelProviderFactory:
    module, _, name = place.partition(":")
    factory: ModelProviderFactory = getattr(importlib.import_module(module), name)()
    return factory


def _explained(error: ScurryError, context: ModelContext) -> ValidationError:
    listed = "\n".join(f"'{key}'='{value}'" for key, value in sorted(redacted(context.options).items()))
    found = explained(
        error,
        f"{without_secrets(str(error), context.options)}\n"
        f"Unable to create a model provider for model '{context.name}'.\n\nModel options are:\n\n{listed}",
    )
    found.about = context.name.rpartition(".")[2]
    return found
