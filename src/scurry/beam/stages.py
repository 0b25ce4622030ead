"""A pipeline's proto as stages, by Beam's own optimisations."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from apache_beam.portability import common_urns
from apache_beam.portability.api import beam_fn_api_pb2, beam_runner_api_pb2
from apache_beam.runners.portability.fn_api_runner import translations
from apache_beam.runners.worker import bundle_processor

from scurry._dataclasses import dataclass
from scurry.errors import UnsupportedError

#: The URN of the operation that replaces an output that a group follows: it groups while elements are made.
GROUPED_OUTPUT = "scurry:beam:grouped_output:v1"
#: The same in STREAMING, where each value has its time and windows.
STREAMED_OUTPUT = "scurry:beam:streamed_output:v1"
#: The kind of the buffers of Reshuffle.
RESHUFFLE = "reshuffle"


@dataclass(frozen=True)
class Output:
    """An output of a stage.

    Attributes:
        transform: The transform that writes it.
        buffer: What is written: `kind:name`.
    """

    transform: str
    buffer: bytes

    @property
    def kind(self) -> str:
        """The way in which the buffer is read: `materialize`, `group` or `reshuffle`."""
        return self.buffer.split(b":", 1)[0].decode()


@dataclass(frozen=True)
class SideInput:
    """A side input of a stage, as its transform names it.

    Attributes:
        buffer: Where its elements come from.
        pattern: The URN of how it is read.
        collection: The id of the collection.
    """

    transform: str
    tag: str
    buffer: bytes
    pattern: str
    collection: str


@dataclass(frozen=True)
class Stage:
    """Transforms that run together, as one operator.

    Attributes:
        descriptor: Beam's ProcessBundleDescriptor.
        source: The transform that reads the main input.
        buffer: What it reads; Beam's name of the impulse if that is it.
        collection: The id of the collection that it reads.
        stateful: Whether it keeps state or timers by key.
        timers: The time domain of each (transform, timer family).
    """

    name: str
    descriptor: bytes
    source: str
    buffer: bytes
    collection: str
    outputs: tuple[Output, ...]
    side_inputs: tuple[SideInput, ...]
    stateful: bool
    timers: dict[tuple[str, str], int]


@dataclass(frozen=True)
class Grouping:
    """A GroupByKey.

    Attributes:
        components: Coders and windowing strategies, as Beam's Components.
        input: The id of the collection of pairs.
        output: The id of the collection of groups.
    """

    components: bytes
    input: str
    output: str


@dataclass(frozen=True)
class TestEvents:
    """A TestStream.

    Attributes:
        payload: Its events, as Beam's TestStreamPayload.
        components: Coders and windowing strategies, as Beam's Components.
        collection: The id of the collection of its elements.
        buffer: The buffer that it writes.
    """

    name: str
    payload: bytes
    components: bytes
    collection: str
    buffer: bytes


@dataclass(frozen=True)
class Stages:
    """The stages of a pipeline in the order of their inputs, and its groups by the buffers that they read."""

    stages: list[Stage]
    groupings: dict[bytes, Grouping]
    tests: list[TestEvents]


def stages_of(pipeline: Any, streaming: bool) -> Stages:
    """Return the stages of a pipeline's proto.

    Args:
        pipeline: The proto.
        streaming: Whether it runs in STREAMING.

    Raises:
        UnsupportedError: A transform that scurry does not run.
    """
    pipeline = copy.deepcopy(pipeline)
    _require_python(pipeline)
    context, stages = translations.create_and_optimize_stages(
        pipeline,
        phases=[
            translations.annotate_downstream_side_inputs,
            translations.annotate_stateful_dofns_as_roots,
            translations.fix_side_input_pcoll_coders,
            translations.pack_combiners,
            translations.lift_combiners,
            translations.expand_sdf,
            translations.expand_gbk,
            _expand_reshuffle,
            translations.sink_flattens,
            translations.greedily_fuse,
            translations.read_to_impulse,
            translations.impulse_to_input,
            translations.sort_stages,
            translations.add_impulse_to_dangling_transforms,
            translations.setup_timer_mapping,
            translations.populate_data_channel_coders,
        ],
        known_runner_urns=frozenset(
            [
                common_urns.primitives.FLATTEN.urn,
                common_urns.primitives.GROUP_BY_KEY.urn,
                common_urns.composites.RESHUFFLE.urn,
                common_urns.primitives.TEST_STREAM.urn,
            ]
        ),
    )
    _use_channel_coders(context)
    groupings: dict[bytes, Grouping] = {}
    found = [_stage(each, context, groupings, streaming) for each in stages if not _is_test_stream(each)]
    return Stages(found, groupings, [_test_events(each, context) for each in stages if _is_test_stream(each)])


def _require_python(pipeline: Any) -> None:
    """Raise an error for a transform that runs in another language, or that scurry does not run."""
    for transform in pipeline.components.transforms.values():
        if transform.environment_id:
            environment = pipeline.components.environments[transform.environment_id]
            if environment.urn == common_urns.environments.EXTERNAL.urn or _is_foreign(environment):
                raise UnsupportedError(
                    f"transform {transform.unique_name!r} runs in another language or process ({environment.urn}), and "
                    "ScurryRunner runs Python transforms only: use a transform that is written in Python"
                )


def _is_foreign(environment: Any) -> bool:
    """Return whether an environment is that of another SDK than Python's."""
    images = [each for each in environment.capabilities if each.startswith("beam:version:sdk_base:")]
    return bool(images) and not any("python" in each for each in images)


def _expand_reshuffle(stages: Any, context: Any) -> Iterator[Any]:
    """Turn each Reshuffle into a write followed by a read, as GroupByKey."""
    for stage in stages:
        transform = translations.only_transform(stage.transforms)
        if transform.spec.urn != common_urns.composites.RESHUFFLE.urn:
            yield stage
            continue
        (output,) = transform.outputs.values()
        inputs = list(transform.inputs.values())
        if len(inputs) > 1:  # made by expand_sdf, which leaves the side inputs of the splittable DoFn there
            coder = context.components.pcollections[output].coder_id
            inputs = [each for each in inputs if context.components.pcollections[each].coder_id == coder]
        source = inputs[0]
        context.length_prefix_pcoll_coders(source)
        context.length_prefix_pcoll_coders(output)
        buffer = translations.create_buffer_id(output, kind=RESHUFFLE)
        write = translations.Stage(
            transform.unique_name + "/Write",
            [
                beam_runner_api_pb2.PTransform(
                    unique_name=transform.unique_name + "/Write",
                    inputs={"in": source},
                    spec=beam_runner_api_pb2.FunctionSpec(urn=bundle_processor.DATA_OUTPUT_URN, payload=buffer),
                )
            ],
            downstream_side_inputs=frozenset(),
            must_follow=stage.must_follow,
        )
        yield write
        yield translations.Stage(
            transform.unique_name + "/Read",
            [
                beam_runner_api_pb2.PTransform(
                    unique_name=transform.unique_name + "/Read",
                    outputs=transform.outputs,
                    spec=beam_runner_api_pb2.FunctionSpec(urn=bundle_processor.DATA_INPUT_URN, payload=buffer),
                )
            ],
            downstream_side_inputs=stage.downstream_side_inputs,
            must_follow=translations.union(frozenset([write]), stage.must_follow),
        )


def _use_channel_coders(context: Any) -> None:
    """Name the coders of elements that cross stages by the collections: `channel:<collection>`."""
    for collection, coder in context.data_channel_coders.items():
        context.components.coders[f"channel:{collection}"].CopyFrom(context.components.coders[coder])


def has_test_stream(pipeline: Any) -> bool:
    """Return whether a pipeline has a TestStream."""
    urn = common_urns.primitives.TEST_STREAM.urn
    return any(transform.spec.urn == urn for transform in pipeline.components.transforms.values())


def _is_test_stream(stage: Any) -> bool:
    return any(each.spec.urn == common_urns.primitives.TEST_STREAM.urn for each in stage.transforms)


def _test_events(stage: Any, context: Any) -> TestEvents:
    (test,) = [each for each in stage.transforms if each.spec.urn == common_urns.primitives.TEST_STREAM.urn]
    payload = beam_runner_api_pb2.TestStreamPayload.FromString(test.spec.payload)
    if len(test.outputs) != 1:
        raise UnsupportedError(
            f"transform {test.unique_name!r} has {len(test.outputs)} outputs, and ScurryRunner runs a TestStream of "
            "one: split its elements by a function with outputs"
        )
    for event in payload.events:
        if event.HasField("processing_time_event"):
            raise UnsupportedError(
                f"transform {test.unique_name!r} advances processing time, which ScurryRunner does not do: it is the "
                "wall clock. Test with event time, or with Beam's own local runner"
            )
    (collection,) = test.outputs.values()
    (write,) = [each for each in stage.transforms if each.spec.urn == bundle_processor.DATA_OUTPUT_URN]
    components = components_of(context.components, (collection,))
    return TestEvents(test.unique_name, test.spec.payload, components, collection, write.spec.payload)


def _stage(stage: Any, context: Any, groupings: dict[bytes, Grouping], streaming: bool) -> Stage:
    components = context.components
    transforms: dict[str, Any] = {}
    reads: list[tuple[str, bytes, str]] = []
    outputs: list[Output] = []
    side_inputs: list[SideInput] = []
    timers: dict[tuple[str, str], int] = {}
    stateful = False
    for each in stage.transforms:
        transform = beam_runner_api_pb2.PTransform()
        transform.CopyFrom(each)
        buffer, urn = each.spec.payload, each.spec.urn
        if urn == bundle_processor.DATA_INPUT_URN:
            (collection,) = each.outputs.values()
            reads.append((each.unique_name, buffer, collection))
            transform.spec.payload = _port(context.data_channel_coders[collection])
        elif urn == bundle_processor.DATA_OUTPUT_URN:
            (collection,) = each.inputs.values()
            output = Output(each.unique_name, buffer)
            outputs.append(output)
            transform.spec.payload = _port(context.data_channel_coders[collection])
            if output.kind == "group":
                transform.spec.urn = STREAMED_OUTPUT if streaming else GROUPED_OUTPUT
                _, name = translations.split_buffer_id(buffer)
                groupings[buffer] = _grouping(components.transforms[name], context)
        elif urn in translations.PAR_DO_URNS:
            _require_bounded(each, components, streaming)
            payload = beam_runner_api_pb2.ParDoPayload.FromString(buffer)
            stateful = stateful or bool(payload.state_specs or payload.timer_family_specs)
            if payload.requires_time_sorted_input:
                raise UnsupportedError(
                    f"transform {each.unique_name!r} requires input that is sorted by time, which ScurryRunner does "
                    "not do: sort in the DoFn, by elements kept in state until a timer"
                )
            for family, spec in payload.timer_family_specs.items():
                timers[each.unique_name, family] = spec.time_domain
            for tag, side in payload.side_inputs.items():
                collection = each.inputs[tag]
                found = translations.create_buffer_id(collection)
                if streaming:
                    raise UnsupportedError(
                        f"transform {each.unique_name!r} has a side input, which ScurryRunner does not run in "
                        "STREAMING yet: join by CoGroupByKey, or run a bounded pipeline without --streaming"
                    )
                side_inputs.append(SideInput(each.unique_name, tag, found, side.access_pattern.urn, collection))
        transforms[each.unique_name] = transform
    if len(reads) != 1:
        raise UnsupportedError(
            f"stage {stage.name!r} reads {len(reads)} main inputs, and ScurryRunner runs stages of one"
        )
    used = {collection for each in stage.transforms for collection in (*each.inputs.values(), *each.outputs.values())}
    descriptor = beam_fn_api_pb2.ProcessBundleDescriptor(
        id=stage.name,
        transforms=transforms,
        pcollections={key: value for key, value in components.pcollections.items() if key in used},
        coders=dict(components.coders.items()),
        windowing_strategies=dict(components.windowing_strategies.items()),
        environments=dict(components.environments.items()),
    )
    if timers:
        descriptor.timer_api_service_descriptor.url = "scurry"
    return Stage(
        stage.name, descriptor.SerializeToString(), *reads[0], tuple(outputs), tuple(side_inputs), stateful, timers
    )


def components_of_stage(stage: Stage) -> bytes:
    """Return the coders of the inputs of a stage, as Beam's Components."""
    parsed = beam_fn_api_pb2.ProcessBundleDescriptor.FromString(stage.descriptor)
    return components_of(parsed, {stage.collection, *(each.collection for each in stage.side_inputs)})


def _require_bounded(transform: Any, components: Any, streaming: bool) -> None:
    """Raise an error for a splittable DoFn in STREAMING that does not end."""
    unbounded = beam_runner_api_pb2.IsBounded.UNBOUNDED
    splits = transform.spec.urn == common_urns.sdf_components.PROCESS_SIZED_ELEMENTS_AND_RESTRICTIONS.urn
    if (
        streaming
        and splits
        and any(components.pcollections[each].is_bounded == unbounded for each in transform.outputs.values())
    ):
        raise UnsupportedError(
            f"transform {transform.unique_name!r} is an unbounded splittable DoFn, which ScurryRunner does not run in "
            "STREAMING yet: read with a bounded one, or use another runner"
        )


def _port(coder: str) -> bytes:
    return bytes(beam_fn_api_pb2.RemoteGrpcPort(coder_id=coder).SerializeToString())


def _grouping(transform: Any, context: Any) -> Grouping:
    (source,), (output,) = transform.inputs.values(), transform.outputs.values()
    return Grouping(components_of(context.components, (source, output)), source, output)


def components_of(components: Any, collections: Any) -> bytes:
    """Return the components without transforms and other collections."""
    kept = beam_runner_api_pb2.Components(
        pcollections={each: components.pcollections[each] for each in collections},
        coders=dict(components.coders.items()),
        windowing_strategies=dict(components.windowing_strategies.items()),
        environments=dict(components.environments.items()),
    )
    return bytes(kept.SerializeToString(deterministic=True))
