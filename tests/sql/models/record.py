"""Ask real Flink for its refusals again: PYTHON-OF-PYFLINK tests/sql/models/record.py FLINK-MODEL-OPENAI.JAR

The jar is `org.apache.flink:flink-model-openai:2.3.0`. Each line of `flink_refusals.jsonl` has a model, a call of
ML_PREDICT, and words of Flink's refusal; lines whose words Flink does not say are printed.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

LINES = Path(__file__).with_name("flink_refusals.jsonl")


def main(jar: str) -> None:
    os.environ["PATH"] = str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"]
    from pyflink.table import EnvironmentSettings, TableEnvironment

    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    env.get_config().set("pipeline.jars", Path(jar).resolve().as_uri())
    env.execute_sql("CREATE TEMPORARY VIEW v (id, s) AS VALUES (1, 'a')")
    wrong = 0
    for line in map(json.loads, LINES.read_text(encoding="utf-8").splitlines()):
        env.execute_sql(f"CREATE TEMPORARY MODEL m {line['model']}")
        try:
            said = env.explain_sql(f"SELECT * FROM ML_PREDICT({line['input']}, MODEL m, {line['call']})")
        except Exception as error:
            said = str(error)
        if line["says"] not in said:
            wrong += 1
            print(line, said[:2000], sep="\n")
        env.drop_temporary_model("m")
    print(f"{wrong} lines differ")


if __name__ == "__main__":
    main(sys.argv[1])
