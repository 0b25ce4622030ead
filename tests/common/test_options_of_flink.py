"""Every option of Flink 2.3 is known, and those that mean something here have Flink's names and defaults."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

from scurry.common._config.option import parse_boolean, parse_duration
from scurry.common._config.validation import known_options, validate
from scurry.errors import ConfigError, UnknownConfigError


class Option(NamedTuple):
    """A line of the fixture."""

    type: str
    default: str
    older_names: list[str]


def recorded() -> dict[str, Option]:
    lines = (Path(__file__).parent.parent / "fixtures" / "flink" / "options.tsv").read_text().splitlines()[1:]
    fields = [[*line.split("\t"), "", ""] for line in lines]
    return {key: Option(type, default, names.split()) for key, type, default, names, *_ in fields}


FLINK = recorded()
OURS = {option.key: option for option in known_options() if option.key in FLINK}

#: Defaults that differ, and why.
OTHER_DEFAULTS = {
    "execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task": "slots are not left free",
    "execution.batch.adaptive.auto-parallelism.max-parallelism": "the parallelism of the job bounds it, as in Flink",
    "execution.checkpointing.externalized-checkpoint-retention": "checkpoints of a cancelled job are kept",
    "execution.state-recovery.from-local": "copies are verified, and cost nothing that is not on the disk anyway",
    "parallelism.default": "the number of CPUs, as Flink has it in an IDE",
    "pipeline.max-parallelism": "-1 is the same as not set",
    "python.client.executable": "the Python that runs the program",
    "python.executable": "the Python that runs the program",
    "python.logging.default.level": "left as the worker has it",
    "rest.bind-address": "Flink has it in its configuration file",
    "rest.bind-port": "a job takes a free port, as several run on one machine",
    "rest.port": "a job takes a free port, as several run on one machine",
    "state.backend.rocksdb.memory.fixed-per-slot": "there is no managed memory, of which Flink takes it if not set",
    "state.changelog.enabled": "PyFlink's getter tells None where it is not set",
}


def plain(option: Option) -> object:
    """A default of Flink's as our options have it."""
    if option.default == "":
        return None
    if option.type == "Duration":
        return parse_duration(option.default)
    if option.type == "Boolean":
        return parse_boolean(option.default)
    return float(option.default) if re.fullmatch(r"[\d.]+", option.default) else option.default


def test_every_key_is_known() -> None:
    unknown = []
    for key in (*FLINK, *(name for option in FLINK.values() for name in option.older_names)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                validate({key: "any"})
        except UnknownConfigError:
            unknown.append(key)
        except ConfigError:
            pass
    assert unknown == []


@pytest.mark.parametrize("key", sorted(OURS.keys() - OTHER_DEFAULTS.keys()))
def test_defaults_are_those_of_flink(key: str) -> None:
    assert OURS[key].default == plain(FLINK[key])


@pytest.mark.parametrize("key", sorted(key for key in OURS if not key.startswith("rest.")))
def test_older_names_are_those_of_flink_in_its_order(key: str) -> None:
    assert list(OURS[key].aliases) == FLINK[key].older_names


@pytest.mark.parametrize("key", [key for key in OURS if FLINK[key].type == "Duration"])
def test_durations_are_read_with_their_unit(key: str) -> None:
    assert OURS[key].parse("90 s") == 90_000
    with pytest.raises(ConfigError):
        OURS[key].parse("-1 s")
