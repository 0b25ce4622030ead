from __future__ import annotations

import datetime
import pickle
from typing import Any

import pytest

from scurry.common import Duration, Time, Types
from scurry.datastream import AggregateFunction, ReduceFunction
from scurry.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from scurry.errors import ArgumentError, ArgumentTypeError


class Sum(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1 + value2


class Count(AggregateFunction):
    def create_accumulator(self) -> Any:
        return 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a + acc_b


class TestDescriptors:
    def test_say_their_kind_name_and_type(self) -> None:
        descriptors = [
            ValueStateDescriptor("v", Types.INT()),
            ListStateDescriptor("l", Types.INT()),
            MapStateDescriptor("m", Types.STRING(), Types.INT()),
            ReducingStateDescriptor("r", Sum(), Types.INT()),
            AggregatingStateDescriptor("a", Count(), Types.INT()),
        ]
        assert [(d.kind, d.get_name()) for d in descriptors] == [
            ("value", "v"),
            ("list", "l"),
            ("map", "m"),
            ("reducing", "r"),
            ("aggregating", "a"),
        ]
        assert [d.type_info for d in descriptors[:3]] == [
            Types.INT(),
            Types.LIST(Types.INT()),
            Types.MAP(Types.STRING(), Types.INT()),
        ]
        assert all(d.ttl_config is None for d in descriptors)

    def test_types_can_be_hints_or_left_out(self) -> None:
        assert ValueStateDescriptor("v", int).type_info == Types.LONG()
        assert ListStateDescriptor("l").type_info == Types.LIST(Types.PICKLED_BYTE_ARRAY())

    def test_reduce_functions_may_be_callables(self) -> None:
        function = Sum()
        assert ReducingStateDescriptor("r", function, Types.INT()).get_reduce_function() is function
        assert ReducingStateDescriptor("r", max, Types.INT()).get_reduce_function().reduce(1, 2) == 2
        assert AggregatingStateDescriptor("a", Count(), Types.INT()).get_agg_function().add(5, 1) == 2

    def test_functions_of_the_wrong_kind_are_refused(self) -> None:
        with pytest.raises(ArgumentTypeError, match="ReduceFunction or a callable"):
            ReducingStateDescriptor("r", 3, Types.INT())  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="AggregateFunction"):
            AggregatingStateDescriptor("a", max, Types.INT())  # type: ignore[arg-type]

    def test_a_state_needs_a_name(self) -> None:
        with pytest.raises(ArgumentError, match="needs a name"):
            ValueStateDescriptor("", Types.INT())

    def test_survive_pickling(self) -> None:
        copy = pickle.loads(pickle.dumps(ReducingStateDescriptor("r", max, Types.INT())))
        assert (copy.name, copy.kind, copy.function.reduce(1, 2)) == ("r", "reducing", 2)


class TestTimeToLive:
    @pytest.mark.parametrize("ttl", [Time.seconds(5), Duration.of_seconds(5), datetime.timedelta(seconds=5), 5000])
    def test_defaults(self, ttl: Any) -> None:
        config = StateTtlConfig.new_builder(ttl).build()
        assert (config.ttl_ms, config.get_ttl()) == (5000, Time.seconds(5))
        assert config.update_type is StateTtlConfig.UpdateType.OnCreateAndWrite
        assert config.state_visibility is StateTtlConfig.StateVisibility.NeverReturnExpired
        assert config.get_ttl_time_characteristic() is StateTtlConfig.TtlTimeCharacteristic.ProcessingTime

    def test_builder(self) -> None:
        builder = StateTtlConfig.new_builder(1).set_ttl(7).update_ttl_on_read_and_write()
        config = builder.return_expired_if_not_cleaned_up().use_processing_time().build()
        assert (config.ttl_ms, config.get_update_type().name) == (7, "OnReadAndWrite")
        assert config.get_state_visibility().name == "ReturnExpiredIfNotCleanedUp"

    def test_advice_on_cleaning_up_is_accepted(self) -> None:
        builder = StateTtlConfig.new_builder(1).cleanup_full_snapshot().cleanup_incrementally(5, True)
        assert builder.cleanup_in_rocksdb_compact_filter(1000).disable_cleanup_in_background().build().ttl_ms == 1

    def test_shows_as_in_pyflink(self) -> None:
        assert repr(StateTtlConfig.new_builder(Time.seconds(1)).build()) == (
            "StateTtlConfig<update_type=UpdateType.OnCreateAndWrite, "
            "state_visibility=StateVisibility.NeverReturnExpired,"
            "ttl_time_characteristic =TtlTimeCharacteristic.ProcessingTime,ttl=1000 ms>"
        )

    def test_must_be_positive(self) -> None:
        with pytest.raises(ArgumentError, match="TTL is expected to be positive"):
            StateTtlConfig.new_builder(0).build()

    def test_a_disabled_one_is_none(self) -> None:
        descriptor = ValueStateDescriptor("v", Types.INT())
        descriptor.enable_time_to_live(StateTtlConfig.new_builder(5).build())
        assert descriptor.ttl_config is not None
        disabled = StateTtlConfig.new_builder(5).set_update_type(StateTtlConfig.UpdateType.Disabled).build()
        descriptor.enable_time_to_live(disabled)
        assert descriptor.ttl_config is None
