"""Record what Flink's format `protobuf` reads and writes: PYTHON-OF-PYFLINK tests/sql/formats/record_protobuf.py JARS.

JARS is a directory with flink-protobuf, protobuf-java and the classes that protoc has generated of the files beside
`cases.json`. Each case has a message, columns, options, and rows in JSON, which Flink writes as messages; or messages,
which it reads as JSON. The answers go into the file.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[2] / "fixtures" / "protobuf" / "cases.json"


def main() -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    from pyflink.java_gateway import get_gateway
    from pyflink.table import EnvironmentSettings, TableEnvironment

    env = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    jvm = get_gateway().jvm
    jars = [f"file://{jar}" for jar in sorted(Path(sys.argv[1]).resolve().glob("*.jar"))]
    env.get_config().set("pipeline.jars", ";".join(jars))
    loader = jvm.Thread.currentThread().getContextClassLoader()
    found = json.loads(CASES.read_text())
    for case in found["cases"]:
        record(jvm, loader, case)
    CASES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")


def record(jvm: Any, loader: Any, case: dict[str, Any]) -> None:
    pb = jvm.org.apache.flink.formats.protobuf
    kind = jvm.org.apache.flink.table.types.logical.utils.LogicalTypeParser.parse(f"ROW<{case['columns']}>", loader)
    info = jvm.org.apache.flink.table.runtime.typeutils.InternalTypeInfo.of(kind)
    mode = jvm.org.apache.flink.formats.json.JsonFormatOptions.MapNullKeyMode.LITERAL
    time = jvm.org.apache.flink.formats.common.TimestampFormat.SQL
    options = case.get("options", {})
    builder = pb.PbFormatConfig.PbFormatConfigBuilder().messageClassName(case["class"])
    builder.ignoreParseErrors(options.get("ignore-parse-errors") == "true")
    builder.readDefaultValues(options.get("read-default-values") == "true")
    builder.writeNullStringLiterals(options.get("write-null-string-literal", ""))
    config = builder.build()
    try:
        read = pb.deserialize.PbRowDataDeserializationSchema(kind, info, config)
        read.open(None)
        write = pb.serialize.PbRowDataSerializationSchema(kind, config)
        write.open(None)
    except Exception as error:
        case["refused"] = message(error)
        return
    of_json = jvm.org.apache.flink.formats.json.JsonRowDataDeserializationSchema(kind, info, False, False, time)
    of_json.open(None)
    to_json = jvm.org.apache.flink.formats.json.JsonRowDataSerializationSchema(kind, time, mode, "null", True, False)
    to_json.open(None)
    for each in case.get("rows", ()):
        try:
            row = of_json.deserialize(json.dumps(each["row"]).encode())
            each["message"] = bytes(write.serialize(row)).hex()
        except Exception as error:
            each["failed"] = message(error)
    for each in case.get("messages", ()):
        try:
            row = read.deserialize(bytes.fromhex(each["message"]))
            each["row"] = None if row is None else json.loads(bytes(to_json.serialize(row)))
        except Exception as error:
            each["failed"] = message(error)


def message(error: Any) -> str:
    java = error.java_exception
    while java.getCause() is not None:
        java = java.getCause()
    return f"{java.getClass().getSimpleName()}: {java.getMessage()}"


if __name__ == "__main__":
    main()
