"""The provider `openai`, with a server of its protocol on loopback."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest

from scurry.errors import JobError, ScurryError, UnsupportedError, ValidationError
from scurry.table import PlanReference, TableEnvironment
from support.models.server import Behaviour, ModelServer, serving

KEY = "sk-tellnoone"
CHAT = "INPUT (a STRING) OUTPUT (b STRING)"


def model(env: TableEnvironment, server: ModelServer, options: str = "", path: str = "chat/completions") -> None:
    columns = CHAT if path != "embeddings" else "INPUT (a STRING) OUTPUT (v ARRAY<FLOAT>)"
    env.execute_sql(
        f"CREATE MODEL m {columns} WITH ('provider' = 'openai', 'endpoint' = '{server.url}/{path}', "
        f"'api-key' = '{KEY}', 'model' = 'small'{options})"
    )


def predicted(env: TableEnvironment, texts: list[str | None], config: dict[str, str] | None = None) -> list[Any]:
    table = env.from_elements([(place, text) for place, text in enumerate(texts)], ["id", "s"])
    return [tuple(row) for row in env.from_model("m").predict(table, ["s"], config).execute().collect()]


def test_rows_have_the_answers_of_the_server(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server)
        assert predicted(env, ["x", "yz"]) == [(0, "x", "<x>"), (1, "yz", "<yz>")]
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "You are a helpful assistant."}
    assert server.keys == {f"Bearer {KEY}"}


def test_a_row_without_a_text_has_no_answer(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server)
        assert predicted(env, ["x", None]) == [(0, "x", "<x>")]


def test_requests_have_what_flinks_have(env: TableEnvironment) -> None:
    options = (
        ", 'system-prompt' = 'S', 'temperature' = '0.5', 'topP' = '0.25', 'stop' = 'a,b', 'maxTokens' = '7', "
        "'presence-penalty' = '0.5', 'n' = '2', 'seed' = '3', 'response-format' = 'json_object'"
    )
    with serving() as server:
        model(env, server, options)
        assert [row[2] for row in predicted(env, ["x"])] == ["<x>", "<x>"]
    assert server.requests == [
        {
            "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "x"}],
            "model": "small",
            "max_tokens": 7,
            "n": 2,
            "presence_penalty": 0.5,
            "response_format": {"type": "json_object"},
            "seed": 3,
            "stop": ["a", "b"],
            "temperature": 0.5,
            "top_p": 0.25,
        }
    ]


def test_embeddings_are_vectors(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server, ", 'dimension' = '2'", "embeddings")
        assert predicted(env, ["x", "yz"]) == [(0, "x", [1.0, 0.5]), (1, "yz", [2.0, 0.5])]
    assert {"input": "x", "model": "small", "encoding_format": "float", "dimensions": 2} in server.requests


def test_embeddings_of_several_rows_are_one_request(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server, ", 'batch-size' = '4'", "embeddings")
        found = predicted(env, ["a", "bb", None, "cc", "ddd", "e"])
    assert [(row[0], row[2][0]) for row in found] == [(0, 1.0), (1, 2.0), (3, 2.0), (4, 3.0), (5, 1.0)]
    assert len(server.requests) < 5


@pytest.mark.parametrize("mode", ["ORDERED", "ALLOW_UNORDERED"])
def test_each_row_comes_once_from_a_server_that_fails_at_random(env: TableEnvironment, mode: str) -> None:
    behaviour = Behaviour(seed=7, failing=0.1, limiting=0.1, dropping=0.05, delay=0.002)
    texts: list[str | None] = [f"t{place}" for place in range(400)]
    with serving(behaviour) as server:
        model(env, server)
        found = predicted(env, texts, {"max-concurrent-operations": "100", "output-mode": mode})
    expected = [(place, text, f"<{text}>") for place, text in enumerate(texts)]
    assert (found if mode == "ORDERED" else sorted(found)) == expected
    assert set(server.answered) == set(texts)
    assert len(server.requests) > len(texts)


def test_as_many_calls_overlap_as_may(env: TableEnvironment) -> None:
    # no request is answered before a hundred are there
    with serving(Behaviour(together=100)) as server:
        model(env, server)
        texts: list[str | None] = [f"t{place}" for place in range(300)]
        assert len(predicted(env, texts, {"max-concurrent-operations": "100"})) == 300
    assert server.most == 100


def test_connections_stay_open(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server)
        predicted(env, [f"t{place}" for place in range(50)], {"max-concurrent-operations": "2"})
    assert server.connections <= 4


def test_a_refusal_fails_the_job_with_what_the_server_says(env: TableEnvironment) -> None:
    refusal = (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
    with serving(Behaviour(answers={"x": refusal})) as server:
        model(env, server)
        with pytest.raises(JobError) as failure:
            predicted(env, ["x"])
    said = str(failure.value)
    assert "/v1/chat/completions answered 401: Incorrect API key provided: ******" in said
    assert KEY not in said
    assert len(server.requests) == 1


def test_a_refused_row_may_be_left_out(env: TableEnvironment) -> None:
    with serving(Behaviour(answers={"x": (400, {"error": {"message": "bad"}})})) as server:
        model(env, server, ", 'error-handling-strategy' = 'ignore'")
        assert predicted(env, ["x", "y"]) == [(1, "y", "<y>")]


def test_attempts_end(env: TableEnvironment) -> None:
    with serving(Behaviour(failing=1.0)) as server:
        model(env, server, ", 'retry-num' = '2'")
        with pytest.raises(JobError, match="answered 500: overloaded"):
            predicted(env, ["x"])
    assert len(server.requests) == 3


def test_an_answer_of_another_protocol_fails(env: TableEnvironment) -> None:
    with serving(Behaviour(answers={"x": (200, {"output": "hello"})})) as server:
        model(env, server)
        with pytest.raises(JobError, match="none of OpenAI's protocol"):
            predicted(env, ["x"])


def test_an_answer_without_choices_is_no_row(env: TableEnvironment) -> None:
    with serving(Behaviour(answers={"x": (200, {"choices": []})})) as server:
        model(env, server)
        assert predicted(env, ["x"]) == []


def test_a_server_that_is_not_there_is_an_error_with_its_place(env: TableEnvironment) -> None:
    with socket.socket() as taken:  # nobody listens there, and nobody else can
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        env.execute_sql(
            f"CREATE MODEL m {CHAT} WITH ('provider' = 'openai', 'endpoint' = '{url}/chat/completions', "
            "'api-key' = 'k', 'model' = 'small', 'retry-num' = '1')"
        )
        with pytest.raises(JobError, match=rf"{url}/chat/completions does not answer"):
            predicted(env, ["x"])


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy"])
def test_calls_go_through_a_proxy(env: TableEnvironment, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    with serving() as server:
        monkeypatch.setenv(name.lower(), f"http://me:pass@127.0.0.1:{server.port}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        model(env, type("Elsewhere", (), {"url": "http://models.example/v1"})())
        assert predicted(env, ["x"]) == [(0, "x", "<x>")]


def test_the_key_is_in_no_text(env: TableEnvironment, tmp_path: Path) -> None:
    with serving() as server:
        model(env, server)
        env.execute_sql("CREATE TABLE sink (s STRING, b STRING) WITH ('connector' = 'blackhole')")
        query = "SELECT * FROM ML_PREDICT((SELECT 'x' AS s), MODEL m, DESCRIPTOR(s))"
        shown = [
            next(env.execute_sql("SHOW CREATE MODEL m").collect())[0],
            env.explain_sql(query),
            repr(env._session.for_functions()),
            repr(env.sql_query(query)._plan),
            str(env.from_model("m")),
        ]
        with pytest.raises(ScurryError) as refused:
            env.explain_sql(query.replace("DESCRIPTOR(s)", "DESCRIPTOR(s), MAP['async', 'false']"))
        shown.append(str(refused.value))
    assert KEY not in "\n".join(shown)


RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("flink_refusals.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("each", RECORDED, ids=lambda each: each["model"])
def test_models_are_refused_as_in_flink(env: TableEnvironment, each: dict[str, str]) -> None:
    """What Flink 2.3 said for the same model, with its provider `openai`."""
    env.execute_sql(f"CREATE MODEL m {each['model']}")
    with pytest.raises((ValidationError, UnsupportedError)) as refused:
        env.explain_sql(f"SELECT * FROM ML_PREDICT({each['input']}, MODEL m, {each['call']})")
    assert each["says"] in str(refused.value)


def test_a_compiled_plan_takes_the_key_from_the_catalog(env: TableEnvironment) -> None:
    with serving() as server:
        model(env, server)
        env.execute_sql("CREATE TABLE sink (s STRING, b STRING) WITH ('connector' = 'blackhole')")
        text = env.compile_plan_sql(
            "INSERT INTO sink SELECT * FROM ML_PREDICT((SELECT 'x' AS s), MODEL m, DESCRIPTOR(s))"
        ).as_json_string()
        assert KEY not in text
        env.execute_plan(PlanReference.from_json_string(text)).wait()
        assert server.answered == {"x": 1}
        assert server.keys == {f"Bearer {KEY}"}
        env.drop_model("m")
        with pytest.raises(ValidationError, match="keeps no secrets: 'api-key' of model 'default_catalog"):
            env.execute_plan(PlanReference.from_json_string(text))
