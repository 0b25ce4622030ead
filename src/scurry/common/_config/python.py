"""Keys for the Python code and packages that the workers of a job need; all but the last are PyFlink's."""

from __future__ import annotations

from scurry.common._config.option import ConfigOption, parse_boolean

PYTHON_FILES = ConfigOption(
    "python.files", str, None, "Files of Python code (.py, .zip, .whl, .egg) and directories, separated by commas."
)
PYTHON_ARCHIVES = ConfigOption(
    "python.archives",
    str,
    None,
    "Archives, unpacked into the working directory of workers: `path` or `path#target`, separated by commas.",
)
PYTHON_REQUIREMENTS = ConfigOption(
    "python.requirements",
    str,
    None,
    "A requirements.txt whose packages workers need: `path`, or `path#directory` with a directory of packages.",
)
PYTHON_EXECUTABLE = ConfigOption("python.executable", str, None, "The Python interpreter of workers.")
PYTHON_CLIENT_EXECUTABLE = ConfigOption(
    "python.client.executable", str, None, "The Python interpreter that `scurry run` runs the program with."
)
PYTHON_PATH = ConfigOption(
    "python.pythonpath", str, None, "Directories on the workers' machines to import from, separated as in PYTHONPATH."
)
SHIP_PROGRAM = ConfigOption(
    "scurry.ship-program",
    parse_boolean,
    True,
    "Whether the modules of the program's directory are sent to the workers of a cluster.",
)

PYTHON_OPTIONS: tuple[ConfigOption[object], ...] = (
    PYTHON_FILES,
    PYTHON_ARCHIVES,
    PYTHON_REQUIREMENTS,
    PYTHON_EXECUTABLE,
    PYTHON_CLIENT_EXECUTABLE,
    PYTHON_PATH,
    SHIP_PROGRAM,
)  # type: ignore[assignment]
