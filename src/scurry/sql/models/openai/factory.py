"""The functions of models of OpenAI's protocol: chat completions and embeddings."""

from __future__ import annotations

import asyncio
import math
import urllib.parse
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from scurry.errors import ModelCallError, UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options, TableOption, one_of, whole_number
from scurry.sql.models.contract import ModelContext, ModelProviderFactory, PredictFunction, Row, only_column
from scurry.sql.models.openai.http import JsonEndpoint
from scurry.sql.models.retries import RETRY_OPTIONS, Retries
from scurry.sql.types import ArrayType, FloatType, VarCharType
from scurry.sql.types.atomic_types import MAX_LENGTH


def decimal_number(text: str) -> float:
    """Return a finite number.

    Raises:
        ValueError: It is none.
    """
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f'For input string: "{text}"')
    return found


ENDPOINT = TableOption(
    "endpoint",
    str,
    required=True,
    description="The whole address, which ends in `/chat/completions` or `/embeddings`.",
)
API_KEY = TableOption("api-key", str, required=True, description="What authorises calls; it is shown nowhere.")
MODEL = TableOption("model", str, required=True, description="Name of the model on the server.")
MAX_CONTEXT_SIZE = TableOption("max-context-size", whole_number, description="Refused: the server counts tokens.")
CONTEXT_OVERFLOW_ACTION = TableOption("context-overflow-action", str, description="Refused, as `max-context-size`.")
SYSTEM_PROMPT = TableOption(
    "system-prompt",
    str,
    "You are a helpful assistant.",
    description="What the model is told before the text of the row.",
)
TEMPERATURE = TableOption("temperature", decimal_number, description="How random the answer is.")
TOP_P = TableOption("top-p", decimal_number, description="The probability up to which tokens are considered.")
STOP = TableOption("stop", str, description="Texts before which the answer ends, separated by commas.")
MAX_TOKENS = TableOption("max-tokens", whole_number, description="The most tokens of the answer.")
PRESENCE_PENALTY = TableOption(
    "presence-penalty", decimal_number, description="From -2 to 2: how new topics should be."
)
N = TableOption("n", whole_number, description="The number of answers; each is a row.")
SEED = TableOption("seed", whole_number, description="Makes answers as repeatable as the server can.")
RESPONSE_FORMAT = TableOption(
    "response-format", one_of(("text", "json_object")), description="The format of the answer."
)
DIMENSION = TableOption("dimension", whole_number, description="The length of the vector.")
BATCH_SIZE = TableOption(
    "batch-size", whole_number, 1, description="The most texts of one call for embeddings; Flink has one."
)

_OF_CHAT = (SYSTEM_PROMPT, TEMPERATURE, TOP_P, STOP, MAX_TOKENS, PRESENCE_PENALTY, N, SEED, RESPONSE_FORMAT)
_OF_EMBEDDINGS = (DIMENSION, BATCH_SIZE)
#: As many attempts as Flink makes if the options do not say.
_RETRIES = 100
#: Seconds after which a call fails whose server sends nothing, as OpenAI's own client has it.
_SILENCE = 600.0
#: No limit of its own: `max-concurrent-operations` limits the calls.
_MOST_THREADS = 1024

_STRING = VarCharType(MAX_LENGTH)


class OpenAIFactory(ModelProviderFactory):
    """Make the function of a model by the end of its address."""

    identifier = "openai"
    options: ClassVar[Sequence[TableOption[Any]]] = (
        ENDPOINT,
        API_KEY,
        MODEL,
        MAX_CONTEXT_SIZE,
        CONTEXT_OVERFLOW_ACTION,
        *RETRY_OPTIONS,
        *_OF_CHAT,
        *_OF_EMBEDDINGS,
    )
    deprecated: ClassVar[dict[str, str]] = {"systemPrompt": "system-prompt", "topP": "top-p", "maxTokens": "max-tokens"}

    def create(self, context: ModelContext, options: Options) -> PredictFunction:
        """Return the function of the address that the options name."""
        endpoint = options.get(ENDPOINT)
        path = urllib.parse.urlsplit(endpoint).path.rstrip("/")
        if urllib.parse.urlsplit(endpoint).scheme not in ("http", "https"):
            raise _unsupported(endpoint)
        if MAX_CONTEXT_SIZE in options or CONTEXT_OVERFLOW_ACTION in options:
            raise UnsupportedError(
                f"'{MAX_CONTEXT_SIZE.key}' and '{CONTEXT_OVERFLOW_ACTION.key}' are not supported: the server counts "
                "the tokens of its models; cut texts in the query, with LEFT(text, length)"
            )
        only_column(context, "input", _STRING)
        if path.endswith("/chat/completions"):
            only_column(context, "output", _STRING)
            return _Chat(options)
        if path.endswith("/embeddings"):
            only_column(context, "output", ArrayType(FloatType()))
            if options.get(BATCH_SIZE) < 1:
                raise ValidationError(f"'{BATCH_SIZE.key}' must be positive, but was {options.get(BATCH_SIZE)}")
            return _Embeddings(options)
        raise _unsupported(endpoint)


def _unsupported(endpoint: str) -> ValidationError:
    return ValidationError(f"Unsupported endpoint: {endpoint}").with_hint(
        "it begins with http:// or https:// and ends in /chat/completions or /embeddings"
    )


class _OpenAI(PredictFunction):
    """Calls of a server, in threads: one of them waits for each call in flight."""

    is_async = True
    batch_size: int | None = 1

    def __init__(self, options: Options) -> None:
        self._options = options
        self._retries = Retries.of(options, "RETRY", _RETRIES, only_transient=True)

    def open(self) -> None:
        """Prepare threads; each connects with its first call."""
        options = self._options
        self._endpoint = JsonEndpoint(options.get(ENDPOINT), options.get(API_KEY), _SILENCE)
        self._threads = ThreadPoolExecutor(_MOST_THREADS, "calls-of-models")

    def close(self) -> None:
        """End the threads and their connections."""
        self._endpoint.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def predict_async(self, rows: Sequence[Row]) -> Sequence[Sequence[Row]]:
        """Return the rows that the server returns; none for a text that is NULL."""
        texts = [row[0] for row in rows if row[0] is not None]
        if not texts:
            return [[] for _ in rows]

        async def call() -> Sequence[Sequence[Row]]:
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(self._threads, self._endpoint.post, self._request(texts))
            return self._results(answer, texts)

        found = iter(await self._retries.run_async(call, [(text,) for text in texts]))
        return [[] if row[0] is None else next(found) for row in rows]

    def _request(self, texts: list[str]) -> dict[str, Any]:
        raise NotImplementedError

    def _results(self, answer: Any, texts: list[str]) -> Sequence[Sequence[Row]]:
        raise NotImplementedError

    def _given(self, names: dict[str, TableOption[Any]]) -> dict[str, Any]:
        found = {name: self._options.find(option) for name, option in names.items()}
        return {name: value for name, value in found.items() if value is not None}


class _Chat(_OpenAI):
    """Chat completions: a row for each answer."""

    def _request(self, texts: list[str]) -> dict[str, Any]:
        options = self._options
        messages = [
            {"role": "system", "content": options.get(SYSTEM_PROMPT)},
            {"role": "user", "content": texts[0]},
        ]
        given = self._given(
            {
                "max_tokens": MAX_TOKENS,
                "n": N,
                "presence_penalty": PRESENCE_PENALTY,
                "seed": SEED,
                "temperature": TEMPERATURE,
                "top_p": TOP_P,
            }
        )
        if (stop := options.find(STOP)) is not None:
            given["stop"] = stop.split(",")
        if (response_format := options.find(RESPONSE_FORMAT)) is not None:
            given["response_format"] = {"type": response_format}
        return {"messages": messages, "model": options.get(MODEL), **given}

    def _results(self, answer: Any, texts: list[str]) -> Sequence[Sequence[Row]]:
        return [_read(answer, lambda: [(choice["message"].get("content") or "",) for choice in answer["choices"]])]


class _Embeddings(_OpenAI):
    """Embeddings: a vector for each text."""

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.batch_size = options.get(BATCH_SIZE)

    def _request(self, texts: list[str]) -> dict[str, Any]:
        given = self._given({"dimensions": DIMENSION})
        asked = texts[0] if len(texts) == 1 else texts
        return {"input": asked, "model": self._options.get(MODEL), "encoding_format": "float", **given}

    def _results(self, answer: Any, texts: list[str]) -> Sequence[Sequence[Row]]:
        if len(texts) == 1:
            return [_read(answer, lambda: [([float(x) for x in each["embedding"]],) for each in answer["data"]])]
        vectors = _read(
            answer,
            lambda: [
                ([float(x) for x in each["embedding"]],)
                for each in sorted(answer["data"], key=lambda one: int(one["index"]))
            ],
        )
        if len(vectors) != len(texts):
            raise ModelCallError(f"the server answered with {len(vectors)} vectors for {len(texts)} texts")
        return [[vector] for vector in vectors]


def _read(answer: Any, read: Callable[[], list[Row]]) -> list[Row]:
    try:
        return read()
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        fields = sorted(answer) if isinstance(answer, dict) else type(answer).__name__
        raise ModelCallError(
            f"the server's answer is none of OpenAI's protocol: {type(error).__name__}: {error}; it has {fields}"
        ) from error
