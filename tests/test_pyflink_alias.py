"""``import pyflink`` resolves to scurry, and nothing can tell the two names apart."""

from __future__ import annotations

import importlib
import pickle
import re
import subprocess
import sys
from pathlib import Path

import cloudpickle
import pytest

import scurry
import scurry.common.time
import scurry.pyflink_alias
from scurry.common._pyflink.names import IMPORTED
from scurry.errors import PyFlinkImportedError
from support import TESTS


def in_fresh_python(code: str, *, path: Path | None = None) -> str:
    source = str(Path(scurry.__file__).parent.parent)
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {[str(path), source] if path else [source]}\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def test_a_module_is_the_same_object_under_both_names() -> None:
    import pyflink
    import pyflink.common.time

    assert pyflink is scurry
    assert pyflink.common.time is scurry.common.time
    assert sys.modules["pyflink.common.time"] is sys.modules["scurry.common.time"]


def test_a_class_is_the_same_object_under_both_names() -> None:
    from pyflink.common.time import Duration

    assert Duration is scurry.common.time.Duration


def test_a_module_first_imported_as_pyflink_is_not_imported_twice() -> None:
    code = "import scurry.pyflink_alias, pyflink.common.time as a, scurry.common.time as b; print(a is b)"
    assert in_fresh_python(code) == "True\n"


def test_a_module_keeps_its_own_name_and_spec() -> None:
    import pyflink.common.time

    assert pyflink.common.time.__name__ == "scurry.common.time"
    assert pyflink.common.time.__spec__.name == "scurry.common.time"


@pytest.mark.parametrize("module", IMPORTED)
def test_a_module_has_the_names_that_pyflinks_module_imports(module: str) -> None:
    found = importlib.import_module(f"pyflink.{module}")
    for source, names in IMPORTED[module].items():
        for name in names.split():
            assert getattr(found, name) is getattr(importlib.import_module(f"scurry.{source}"), name)
    with pytest.raises((AttributeError, ImportError)):
        found.nonsense  # noqa: B018


def test_what_scurry_lacks_is_reported_by_its_pyflink_name() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"not offer pyflink\.java_gateway: no Java runs") as caught:
        import pyflink.java_gateway  # noqa: F401
    assert caught.value.name == "pyflink.java_gateway"


def connectors_of_pyflink() -> list[str]:
    names = (TESTS / "fixtures" / "api" / "signatures.txt").read_text(encoding="utf-8")
    return sorted(set(re.findall(r"^datastream\.connectors\.(\w+)$", names, re.MULTILINE)))


@pytest.mark.parametrize("name", connectors_of_pyflink())
def test_every_connector_of_pyflink_is_there(name: str) -> None:
    module = importlib.import_module(f"pyflink.datastream.connectors.{name}")
    assert module.__name__ == f"scurry.datastream.connectors.{name}"


def test_the_list_of_pyflinks_connectors_is_whole() -> None:
    assert {"cassandra", "elasticsearch", "kafka", "kinesis", "pulsar"} <= set(connectors_of_pyflink())


@pytest.mark.parametrize("name", ["dynamodb", "firehose", "gcp_pubsub", "hbase", "sqs"])
def test_a_connector_that_only_java_has_says_what_to_use_instead(name: str) -> None:
    with pytest.raises(ModuleNotFoundError, match=rf"scurry has no {name} connector: .*docs/connectors/"):
        importlib.import_module(f"pyflink.datastream.connectors.{name}")


def test_the_kafka_connector_is_found_where_pyflink_offers_it_too() -> None:
    from pyflink.datastream.connectors import KafkaSource
    from pyflink.datastream.connectors.kafka import KafkaSource as TheSame

    assert KafkaSource is TheSame


def test_a_real_pyflink_on_the_path_is_shadowed(tmp_path: Path) -> None:
    (tmp_path / "pyflink").mkdir()
    (tmp_path / "pyflink" / "__init__.py").write_text("raise SystemExit('the real one')")
    code = "import scurry.pyflink_alias, pyflink; print(pyflink.__name__)"
    assert in_fresh_python(code, path=tmp_path) == "scurry\n"


def test_a_real_pyflink_imported_before_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyflink", pytest)
    with pytest.raises(PyFlinkImportedError, match="import scurry.pyflink_alias before"):
        scurry.pyflink_alias.install()


def test_the_version_is_that_of_the_api_scurry_follows() -> None:
    import pyflink.version

    assert pyflink.version.__version__ == "2.3.0"


def test_a_class_pickled_under_the_alias_loads_where_there_is_no_alias() -> None:
    from pyflink.common.time import Duration

    pickled = pickle.dumps(Duration)
    assert in_fresh_python(f"import pickle; print(pickle.loads({pickled!r}).__module__)").startswith("scurry.")


def test_a_function_that_uses_a_pyflink_module_loads_where_there_is_no_alias() -> None:
    import pyflink.common.time as flink_time

    pickled = cloudpickle.dumps(lambda: flink_time.Duration.of_seconds(1).__class__.__name__)
    code = f"import pickle; print(pickle.loads({pickled!r})(), 'pyflink' in sys.modules)"
    assert in_fresh_python(code) == "Duration False\n"


def test_the_first_import_is_announced_once() -> None:
    code = "import scurry.pyflink_alias as a; a.install(lambda: print('here')); import pyflink, pyflink.common.time"
    assert in_fresh_python(code) == "here\n"
