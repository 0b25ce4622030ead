"""Classes of models in files that the program adds."""

from __future__ import annotations

from pathlib import Path

from scurry.table import TableEnvironment


def test_a_class_may_be_in_a_file_that_the_program_adds(env: TableEnvironment, tmp_path: Path) -> None:
    module = tmp_path / f"added_model_{tmp_path.name}.py"
    module.write_text("class Upper:\n    def predict(self, text):\n        return text.upper()\n")
    env.add_python_file(str(module))
    env.execute_sql(
        "CREATE MODEL m INPUT (a STRING) OUTPUT (b STRING) "
        f"WITH ('provider' = 'python', 'class' = '{module.stem}.Upper')"
    )
    found = env.execute_sql("SELECT * FROM ML_PREDICT(TABLE v, MODEL m, DESCRIPTOR(s))").collect()
    assert [row[2] for row in found] == ["A", "BC", "D"]
