"""Types, tags and selectors that few programs name themselves."""

# compare: ordered
# parallelism: 1
from __future__ import annotations

import datetime

from pyflink.common import Types, TypeSerializer
from pyflink.common.input_dependency_constraint import InputDependencyConstraint
from pyflink.common.typeinfo import (
    BasicTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    SqlTimeTypeInfo,
)
from pyflink.datastream import OutputTag, StreamExecutionEnvironment
from pyflink.datastream.functions import NullByteKeySelector
from pyflink.datastream.state import OperatorStateStore
from pyflink.datastream.window import CountWindow, CountWindowSerializer, TimeWindowSerializer
from pyflink.table import DataTypes

BASIC = (
    "STRING",
    "BOOLEAN",
    "BYTE",
    "SHORT",
    "INT",
    "LONG",
    "FLOAT",
    "DOUBLE",
    "CHAR",
    "BIG_INT",
    "BIG_DEC",
    "INSTANT",
)
for name in BASIC:
    made = getattr(BasicTypeInfo, f"{name}_TYPE_INFO")()
    print(name, made, type(made).__name__, made == getattr(Types, name)())
for kind in LocalTimeTypeInfo.TimeType:
    print(kind.value, LocalTimeTypeInfo(kind), LocalTimeTypeInfo(kind) == LocalTimeTypeInfo(kind))
print(LocalTimeTypeInfo(LocalTimeTypeInfo.TimeType.LOCAL_DATE) == Types.SQL_DATE())
rows = ExternalTypeInfo(Types.ROW([Types.INT(), Types.STRING()]))
print(rows, rows == ExternalTypeInfo(Types.ROW([Types.INT(), Types.STRING()])), rows == Types.ROW([Types.INT()]))
print(SqlTimeTypeInfo.DATE(), SqlTimeTypeInfo.TIME(), SqlTimeTypeInfo.TIMESTAMP())
print(ListTypeInfo(element_type=Types.INT()), ObjectArrayTypeInfo(element_type=Types.INT()))
print(MapTypeInfo(key_type_info=Types.INT(), value_type_info=Types.STRING()))

for declared in ("string", int, Types.STRING, ("x",), [Types.INT()], None, [], Types.INT()):
    try:
        print(OutputTag("tag", declared).type_info)
    except TypeError as error:
        print(type(declared).__name__, isinstance(error, TypeError))
for tag_id in ("", None):
    try:
        print(OutputTag(tag_id))
    except ValueError as error:
        print(error)

number = DataTypes.INT()
print(number.bridged_to("java.lang.Integer") is number, number == DataTypes.INT(), number)
print(NullByteKeySelector().get_key("anything"), [constraint.name for constraint in InputDependencyConstraint])
print(OperatorStateStore.__abstractmethods__ == {"get_broadcast_state"})
print(isinstance(TimeWindowSerializer(), TypeSerializer), TimeWindowSerializer() == CountWindowSerializer())
print(CountWindowSerializer() == CountWindowSerializer(), CountWindow(1))

env = StreamExecutionEnvironment.get_execution_environment()
day = datetime.date(2014, 9, 13)
env.from_collection([(day, 1)], type_info=Types.TUPLE([SqlTimeTypeInfo.DATE(), BasicTypeInfo.INT_TYPE_INFO()])).print()
env.execute()
