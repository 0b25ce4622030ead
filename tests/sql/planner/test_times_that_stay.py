"""Which operations leave a time attribute one."""

from __future__ import annotations

import importlib
import pkgutil

import scurry.sql.plan
from scurry.sql.plan.changelog_functions import ChangelogFunction, FromChangelog, ToChangelog
from scurry.sql.plan.matching import Match
from scurry.sql.plan.nodes import Aggregate, OneInput, Plan, Project, SetOperation, Sink, TableAggregate, TwoInputs
from scurry.sql.plan.physical.aggregates import GlobalGroupAggregate, LocalGroupAggregate
from scurry.sql.plan.physical.joins import RegularJoin, StreamingJoin
from scurry.sql.plan.physical.windows import GroupWindowAggregate, WindowAggregate
from scurry.sql.planner.rules import time_attributes

#: The rows of these come in no order of time, whatever their input's order is; nothing reads those of a sink.
WITHOUT_TIME = {GlobalGroupAggregate, LocalGroupAggregate, RegularJoin, Sink, TableAggregate}
#: These look at the column.
BY_COLUMN = {Aggregate, FromChangelog, GroupWindowAggregate, Match, Project, SetOperation, ToChangelog, WindowAggregate}
ABSTRACT = {ChangelogFunction, OneInput, Plan, StreamingJoin, TwoInputs}


def classes(found: type[Plan] = Plan) -> set[type[Plan]]:
    return {found}.union(*map(classes, found.__subclasses__()))


def test_it_is_known_of_every_operation_whether_times_stay() -> None:
    for module in pkgutil.walk_packages(scurry.sql.plan.__path__, "scurry.sql.plan."):
        importlib.import_module(module.name)
    known = (*BY_COLUMN, *time_attributes._PASSING, *time_attributes._PAIRING, *time_attributes._MAKING)
    own = {each for each in classes() if each.__module__.startswith("scurry.sql.plan.")}
    unknown = {each for each in own if not issubclass(each, known)} - WITHOUT_TIME - ABSTRACT
    assert unknown == set()
