"""Slot sharing groups: which operators Flink puts into the same slots. They have no effect here."""

from __future__ import annotations

from functools import total_ordering

from scurry._dataclasses import dataclass
from scurry.common._api import ApiObject
from scurry.errors import ArgumentError

__all__ = ["MemorySize", "SlotSharingGroup"]

_UNITS = ((30, "gb"), (20, "mb"), (10, "kb"))
_TEBIBYTE = 1 << 40


@total_ordering
@dataclass(frozen=True)
class MemorySize(ApiObject):
    """A number of bytes (Flink's `MemorySize`).

    Attributes:
        bytes_size: The number, not negative.
    """

    bytes_size: int

    def __post_init__(self) -> None:
        """Check the number.

        Raises:
            ArgumentError: It is negative.
        """
        if self.bytes_size < 0:
            raise ArgumentError(f"bytes must be >= 0, not {self.bytes_size}")

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        """Return a size of that many mebibytes (1024 * 1024 bytes)."""
        return MemorySize(mebi_bytes << 20)

    def get_bytes(self) -> int:
        """Return the size in bytes."""
        return self.bytes_size

    def get_kibi_bytes(self) -> int:
        """Return the size in units of 1024 bytes, rounded down."""
        return self.bytes_size >> 10

    def get_mebi_bytes(self) -> int:
        """Return the size in units of 1024 kibibytes, rounded down."""
        return self.bytes_size >> 20

    def get_gibi_bytes(self) -> int:
        """Return the size in units of 1024 mebibytes, rounded down."""
        return self.bytes_size >> 30

    def get_tebi_bytes(self) -> int:
        """Return the size in units of 1024 gibibytes, rounded down."""
        return self.bytes_size >> 40

    def __lt__(self, other: MemorySize) -> bool:
        """Compare sizes."""
        return self.bytes_size < other.bytes_size

    def __str__(self) -> str:
        """Return the size in Flink's syntax: in the largest unit it is a multiple of, but whole tebibytes in bytes."""
        for power, unit in _UNITS:
            if self.bytes_size % _TEBIBYTE and self.bytes_size % (1 << power) == 0:
                return f"{self.bytes_size >> power} {unit}"
        return f"{self.bytes_size} bytes"


_NO_MEMORY = MemorySize(0)


@dataclass(frozen=True)
class SlotSharingGroup(ApiObject):
    """The name of a group and the resources Flink gives each of its slots; made by `SlotSharingGroup.builder`."""

    name: str
    cpu_cores: float | None = None
    task_heap_memory: MemorySize | None = None
    task_off_heap_memory: MemorySize | None = None
    managed_memory: MemorySize | None = None
    external_resources: tuple[tuple[str, float], ...] = ()

    def get_name(self) -> str:
        """Return the name."""
        return self.name

    def get_cpu_cores(self) -> float | None:
        """Return the number of CPU cores, None if no resources are set."""
        return self.cpu_cores

    def get_task_heap_memory(self) -> MemorySize | None:
        """Return the memory on Java's heap, None if no resources are set."""
        return self.task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        """Return the memory beside Java's heap, None if no resources are set."""
        return self.task_off_heap_memory

    def get_managed_memory(self) -> MemorySize | None:
        """Return the memory Flink manages, None if no resources are set."""
        return self.managed_memory

    def get_external_resources(self) -> dict[str, float]:
        """Return other resources by name."""
        return dict(self.external_resources)

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Return a builder of the group of that name."""
        return SlotSharingGroup.Builder(name)

    class Builder(ApiObject):
        """Builder of a `SlotSharingGroup`."""

        def __init__(self, name: str) -> None:
            """Start with a name and no resources."""
            self._name = name
            self._cpu_cores: float | None = None
            self._task_heap_memory: MemorySize | None = None
            self._task_off_heap_memory: MemorySize | None = None
            self._managed_memory: MemorySize | None = None
            self._external_resources: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            """Set the number of CPU cores.

            Raises:
                ArgumentError: It is not positive.
            """
            if cpu_cores <= 0:
                raise ArgumentError(f"The cpu cores should be positive, not {cpu_cores}")
            self._cpu_cores = cpu_cores
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory on Java's heap.

            Raises:
                ArgumentError: It is 0.
            """
            if not task_heap_memory.bytes_size:
                raise ArgumentError("The task heap memory should be positive.")
            self._task_heap_memory = task_heap_memory
            return self

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory on Java's heap, in mebibytes."""
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory beside Java's heap."""
            self._task_off_heap_memory = task_off_heap_memory
            return self

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory beside Java's heap, in mebibytes."""
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            """Set the memory Flink manages."""
            self._managed_memory = managed_memory
            return self

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            """Set the memory Flink manages, in mebibytes."""
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            """Set the amount of another resource."""
            self._external_resources[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            """Return the group.

            Raises:
                ArgumentError: Only some of its resources are set.
            """
            if self._cpu_cores is not None and self._task_heap_memory is not None:
                return SlotSharingGroup(
                    self._name,
                    self._cpu_cores,
                    self._task_heap_memory,
                    self._task_off_heap_memory or _NO_MEMORY,
                    self._managed_memory or _NO_MEMORY,
                    tuple(self._external_resources.items()),
                )
            others = (self._cpu_cores, self._task_heap_memory, self._task_off_heap_memory, self._managed_memory)
            if self._external_resources or any(resource is not None for resource in others):
                raise ArgumentError(
                    "The cpu cores and task heap memory are required when specifying the resource of a slot sharing "
                    "group. You need to explicitly configure them with positive value."
                )
            return SlotSharingGroup(self._name)
