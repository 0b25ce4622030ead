"""No secret leaves in a text, in whichever of the known forms it is written."""

from __future__ import annotations

import json
import string
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scurry.common import Configuration
from scurry.common.redaction import HIDDEN, redacted, without_secrets

WORDS = ("password", "dbPassword", "db_password", "PASSWD", "secret", "client-secret", "apiKey", "api.key",
         "AccountKey", "SharedAccessKey", "secret_access_key", "accessToken", "pwd", "db.pass",
         "db.pw", "passphrase", "credential")  # fmt: skip
SYMBOLS = "!#$%()*+,-./:;<=>?@[]^_`{|}~&"


def secrets(alphabet: str) -> st.SearchStrategy[str]:
    # digits that no other part of a text has tell whether it is still there
    return st.text(string.ascii_letters + alphabet, min_size=4, max_size=24).map(lambda text: f"{text}zy7w")


ANY = secrets(SYMBOLS + "\"' \\")
PLAIN = secrets("!#$%*+-./:<=>?@^_~")
IN_URL = secrets("!#$%()*+,-./:;=?@[]^_`{|}~&")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text with a secret in a known form, among other text."""
    word = draw(st.sampled_from(WORDS))
    any_one, plain, in_url = draw(ANY), draw(PLAIN), draw(IN_URL)
    quote = draw(st.sampled_from("\"'"))
    quoted = quote + any_one.replace("\\", "\\\\").replace(quote, f"\\{quote}") + quote
    text = draw(st.sampled_from([
        f"{word}={plain}", f"{word} = {plain}", f"{word}: {quoted}" , f"{word}={quoted}", f"{word} => {quoted}",
        json.dumps({"user": "u", word: any_one, "host": "h"}), json.dumps(json.dumps({word: any_one})),
        repr({"user": "u", word: any_one}), f"--{word} {plain}", f"jdbc:h2:mem:x;user=u;{word}={plain};x=1",
        f"https://host/path?user=u&{word}={plain}&x=1", f"Authorization: Bearer {plain}",
        f"Authorization: Basic {plain}",
        json.dumps({"Authorization": f"Bearer {plain}"}), f"amqp://user:{in_url}@host:5672/v", f"redis://:{in_url}@host",
        f"jdbc:postgresql://user:{in_url}@host/db", f"jdbc:oracle:thin:scott/{plain}@host:1521:orcl",
        f"scott/{plain}@//host/service", f"CREATE USER u PASSWORD {quoted}", f"IDENTIFIED BY {quoted}",
        f"DefaultEndpointsProtocol=https;AccountName=n;AccountKey={plain}==;EndpointSuffix=core",
        f"PlainLoginModule required username={quote}u{quote} {word}={quoted};",
        f"-----BEGIN RSA PRIVATE KEY-----\n{plain}\n{plain}\n-----END RSA PRIVATE KEY-----",
    ]))  # fmt: skip
    before, after = (
        draw(st.sampled_from(["", "cannot connect: ", "\n", "x=1, "])),
        draw(st.sampled_from(["", " (1)", "\n"])),
    )
    return before + text + after


@given(texts())
@example("amqp://u:p@sszy7w@host")
def test_no_secret_is_left(text: str) -> None:
    assert "zy7w" not in without_secrets(text)


@given(texts())
def test_hiding_twice_hides_no_more(text: str) -> None:
    once = without_secrets(text)
    assert without_secrets(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: } at line 3", "https://host:8080/jobs?limit=3", "/data/a/b@c.csv", "joe@example.com",
        "primary_key: 3, keys: 4", "monkey=banana, compass=north", "s3a://bucket/key=3/part-0.parquet",
        "at prog.py:12 in check: raise ValueError(value)", "IndexError: list index out of range", "postgresql://joe@host/db",
        "Not authorized to access topics: [orders]", "sensor/7: 20 degrees", "Bearer of bad news",
    ],
)  # fmt: skip
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert without_secrets(text) == text


def test_what_is_around_a_secret_is_shown() -> None:
    assert without_secrets('{"user": "joe", "password": "a b", "host": "h"}') == (
        f'{{"user": "joe", "password": "{HIDDEN}", "host": "h"}}'
    )
    assert without_secrets("amqp://joe:a@b@host:5672/v") == f"amqp://joe:{HIDDEN}@host:5672/v"


@pytest.mark.parametrize(
    "key", ["db.pass", "db.pw", "dbPass", "store_pwd", "x.auth-params", "pulsar.client.authParams", "k.account.key.n"]
)
def test_the_values_of_secret_keys_are_hidden_whole(key: str) -> None:
    assert redacted({key: "a b c"}) == {key: HIDDEN}


def test_values_of_the_jobs_secret_keys_are_hidden_wherever_they_occur() -> None:
    configuration = {"spark.hadoop.fs.s3a.secret.key": "xzy7wxzy7w", "parallelism.default": "12345678"}
    assert without_secrets("403 for xzy7wxzy7w (12345678)", configuration) == f"403 for {HIDDEN} (12345678)"


def test_a_configuration_prints_without_its_secrets() -> None:
    configuration = Configuration.from_dict({"db.password": "xzy7w", "a": "b"})
    assert str(configuration) == f"{{a=b, db.password={HIDDEN}}}"
    assert "zy7w" not in repr(configuration)


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "password" * 25_000, "x://y:" * 30_000, "a='" * 70_000, "pw=\\" * 50_000]
)
def test_long_texts_take_no_time_to_speak_of(text: str) -> None:
    began = time.process_time()
    without_secrets(text)
    assert time.process_time() - began < 10
