"""Settings of Flink that mean something here, or that must not pass unnoticed; the others are in tests/oracle."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import pytest

from scurry.common import ConfigOptions, Configuration
from scurry.datastream import (
    CustomCheckpointStorage,
    CustomStateBackend,
    DataStream,
    EmbeddedRocksDBStateBackend,
    FileSystemCheckpointStorage,
    HashMapStateBackend,
    JobManagerCheckpointStorage,
    RuntimeExecutionMode,
    SlotSharingGroup,
    SourceFunction,
    StreamExecutionEnvironment,
)
from scurry.datastream._environment_settings import ConfiguredEnvironment
from scurry.errors import ArgumentError, ArgumentTypeError, ConfigError, TopologyError, UnsupportedError
from scurry.testing import job_plan_of


def checkpoint_dir(env: StreamExecutionEnvironment) -> str | None:
    env.from_collection([1]).print()
    return job_plan_of(env).settings.checkpoint_dir


class TestCheckpointStorage:
    def test_a_directory_is_where_checkpoints_go(self, env: StreamExecutionEnvironment) -> None:
        env.get_checkpoint_config().set_checkpoint_storage(FileSystemCheckpointStorage("file:///state"))
        assert checkpoint_dir(env) == "file:///state"

    def test_a_directory_can_be_named_without_a_storage(self, env: StreamExecutionEnvironment) -> None:
        env.get_checkpoint_config().set_checkpoint_storage_dir("file:///state")
        assert checkpoint_dir(env) == "file:///state"

    @pytest.mark.parametrize("key", ["execution.checkpointing.dir", "state.checkpoints.dir"])
    def test_a_storage_without_a_path_takes_the_place_of_the_configured_one(self, key: str) -> None:
        env = StreamExecutionEnvironment(Configuration.from_dict({key: "/configured"}))
        env.get_checkpoint_config().set_checkpoint_storage(JobManagerCheckpointStorage())
        assert checkpoint_dir(env) is None

    def test_a_storage_has_a_path_and_sizes_in_limits(self) -> None:
        with pytest.raises(ArgumentError, match="must not be None"):
            FileSystemCheckpointStorage()
        with pytest.raises(ArgumentError, match="from -1 to 1048576"):
            FileSystemCheckpointStorage("file:///state", 2_000_000)

    def test_only_storages_are_accepted(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ArgumentTypeError, match="expected a CheckpointStorage"):
            env.get_checkpoint_config().set_checkpoint_storage("file:///state")  # type: ignore[arg-type]


class TestJava:
    @pytest.mark.parametrize(
        ("make", "instead"),
        [
            (lambda: CustomStateBackend(object()), "leave it out"),
            (lambda: CustomCheckpointStorage(object()), "set execution.checkpointing.dir"),
            (lambda: SourceFunction("org.example.Numbers"), "use env.from_source"),
            (lambda: StreamExecutionEnvironment().add_source(object()), "use from_source"),
        ],
    )
    def test_what_only_java_could_do_is_refused_with_what_to_do(self, make: Callable[[], object], instead: str) -> None:
        with pytest.raises(UnsupportedError, match=instead):
            make()

    def test_hashes_of_operators_are_refused(self, env: StreamExecutionEnvironment) -> None:
        stream = env.from_collection([1])
        with pytest.raises(UnsupportedError, match=r"call uid\(...\) instead"):
            stream.set_uid_hash("0" * 32)
        with pytest.raises(UnsupportedError, match=r"call uid\(...\) instead"):
            stream.print().set_uid_hash("0" * 32)
        with pytest.raises(TopologyError, match="Set uid hash for KeyedStream is not supported"):
            stream.key_by(lambda n: n).set_uid_hash("0" * 32)


class TestStateBackend:
    @pytest.mark.parametrize("backend", [HashMapStateBackend(), EmbeddedRocksDBStateBackend(True)])
    def test_every_one_of_flink_is_accepted(
        self, env: StreamExecutionEnvironment, backend: HashMapStateBackend | EmbeddedRocksDBStateBackend
    ) -> None:
        assert env.set_state_backend(backend) is env

    def test_only_state_backends_are_accepted(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ArgumentTypeError, match="expected a StateBackend"):
            env.set_state_backend("rocksdb")  # type: ignore[arg-type]


class TestUids:
    @pytest.fixture
    def strict(self) -> StreamExecutionEnvironment:
        env = StreamExecutionEnvironment(Configuration.from_dict({"scurry.runner": "local"}))
        env.get_config().disable_auto_generated_uids()
        return env

    def test_the_error_names_the_operator_and_its_line(self, strict: StreamExecutionEnvironment) -> None:
        strict.from_collection([1]).uid("a").map(lambda n: n).name("unidentified").print().uid("c")
        with pytest.raises(TopologyError, match=rf"operator unidentified \({__file__}:\d+\): call uid") as caught:
            strict.get_execution_plan()
        assert "Auto generated UIDs have been disabled but no UID or hash has been assigned" in str(caught.value)

    def test_what_is_no_operator_needs_none(self, strict: StreamExecutionEnvironment) -> None:
        numbers = strict.from_collection([1]).uid("a")
        numbers.union(numbers.rebalance()).key_by(lambda n: n).reduce(lambda a, b: a + b).uid("b").print().uid("c")
        strict.get_execution_plan()

    def test_what_scurry_adds_to_a_job_needs_none(self, strict: StreamExecutionEnvironment) -> None:
        numbers = strict.from_collection([1, 2]).uid("a").map(lambda n: n * 2).uid("b")
        numbers.filter(lambda n: n > 2).uid("nobody listens")
        with numbers.execute_and_collect() as results:
            assert sorted(results) == [2, 4]

    def test_neither_does_a_cache(self, strict: StreamExecutionEnvironment) -> None:
        strict.set_runtime_mode(RuntimeExecutionMode.BATCH)
        cached = strict.from_collection([1, 2]).uid("a").map(lambda n: n * 2).uid("b").cache()
        for job in ("fills the cache", "reads it"):
            with cached.map(lambda n: n + 1).uid("c").execute_and_collect(job) as results:
                assert sorted(results) == [3, 5]


class TestSlotSharingGroups:
    @pytest.mark.parametrize("group", ["heavy", SlotSharingGroup.builder("heavy").build()])
    def test_are_accepted_by_operators_and_sinks(
        self, env: StreamExecutionEnvironment, group: str | SlotSharingGroup
    ) -> None:
        env.from_collection([1]).name("numbers").slot_sharing_group(group).print().slot_sharing_group(group)
        assert [source.name for source in job_plan_of(env).sources.values()] == ["numbers"]

    def test_are_groups_or_names(self, env: StreamExecutionEnvironment) -> None:
        stream: DataStream = env.from_collection([1])
        with pytest.raises(ArgumentTypeError, match="the name of one, got 5"):
            stream.slot_sharing_group(5)  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="expected a SlotSharingGroup"):
            env.register_slot_sharing_group("heavy")  # type: ignore[arg-type]

    def test_have_all_resources_or_none(self) -> None:
        builder = SlotSharingGroup.builder("heavy")
        with pytest.raises(ArgumentError, match="cpu cores should be positive"):
            builder.set_cpu_cores(0)
        with pytest.raises(ArgumentError, match="heap memory should be positive"):
            builder.set_task_heap_memory_mb(0)
        with pytest.raises(ArgumentError, match="cpu cores and task heap memory are required"):
            builder.set_cpu_cores(1.0).build()


class TestDefaultLocalParallelism:
    @pytest.fixture(autouse=True)
    def forgotten_afterwards(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(ConfiguredEnvironment, "_default_local_parallelism", None)
        yield

    def test_holds_for_environments_made_later(self, env: StreamExecutionEnvironment) -> None:
        before = env.get_parallelism()
        env.set_default_local_parallelism(before + 3)
        later = StreamExecutionEnvironment.get_execution_environment()
        assert (env.get_parallelism(), later.get_parallelism()) == (before, before + 3)
        assert env.get_default_local_parallelism() == before + 3

    def test_gives_way_to_the_configuration(self, env: StreamExecutionEnvironment) -> None:
        env.set_default_local_parallelism(7)
        configured = Configuration.from_dict({"parallelism.default": "2"})
        assert StreamExecutionEnvironment.get_execution_environment(configured).get_parallelism() == 2

    def test_is_at_least_one(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ArgumentError, match="at least 1, not 0"):
            env.set_default_local_parallelism(0)


class TestPlainSettings:
    def test_are_keys_of_the_configuration(self) -> None:
        keys = {"pipeline.object-reuse": "true", "pipeline.generic-types": "false", "task.cancellation.interval": "5 s"}
        config = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(keys)).get_config()
        assert (config.is_object_reuse_enabled(), config.has_generic_types_disabled()) == (True, True)
        assert config.get_task_cancellation_interval() == 5000

    def test_are_validated(self, env: StreamExecutionEnvironment) -> None:
        with pytest.raises(ConfigError, match="pipeline.object-reuse = 'sure' cannot be used: expected true or false"):
            env.configure(Configuration.from_dict({"pipeline.object-reuse": "sure"}))
        with pytest.raises(ArgumentError, match="task.cancellation.timeout must not be negative"):
            env.get_config().set_task_cancellation_timeout(-1)

    def test_chain(self, env: StreamExecutionEnvironment) -> None:
        config = env.get_config().enable_object_reuse().disable_closure_cleaner().set_parallelism(3)
        assert (config.is_object_reuse_enabled(), config.is_closure_cleaner_enabled()) == (True, False)

    def test_say_what_they_are_about(self) -> None:
        from scurry.common import ExecutionConfig

        assert "pipeline.object-reuse" in (ExecutionConfig.enable_object_reuse.__doc__ or "")

    def test_raise_no_warnings(self, env: StreamExecutionEnvironment) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            env.enable_changelog_state_backend(True).get_checkpoint_config().enable_unaligned_checkpoints()
            env.get_config().enable_force_kryo().enable_force_avro().disable_generic_types()


def test_a_cached_file_is_said_to_be_out_of_reach(env: StreamExecutionEnvironment) -> None:
    with pytest.warns(UserWarning, match="no access to cached files such as model"):
        env.register_cached_file("file:///model.bin", "model")


def test_options_of_ones_own_are_read_with_type_and_default() -> None:
    configuration = Configuration.from_dict({"retries": "5", "quiet": "TRUE"})
    assert configuration.get(ConfigOptions.key("retries").int_type().default_value(3)) == 5
    assert configuration.get(ConfigOptions.key("quiet").boolean_type().no_default_value()) is True
    assert configuration.get(ConfigOptions.key("rate").double_type().default_value(0.5)) == 0.5
    assert configuration.get(ConfigOptions.key("name").string_type().no_default_value()) is None
    with pytest.raises(ConfigError, match="configuration retries = '5' cannot be used"):
        configuration.get(ConfigOptions.key("retries").boolean_type().default_value(True))
