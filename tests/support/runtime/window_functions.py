"""Functions over the elements of windows: (key, time, number)."""

from __future__ import annotations

from typing import Any

from scurry.datastream.functions import AggregateFunction, ProcessAllWindowFunction, ProcessWindowFunction


def bounds(window: Any) -> tuple[int, ...]:
    if hasattr(window, "start"):
        return window.start, window.end
    return (window.id,) if hasattr(window, "id") else ()


class Contents(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        yield key, bounds(context.window()), sorted(elements)


class AllContents(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        yield "", bounds(context.window()), sorted(elements)


class WithWindow(ProcessWindowFunction):
    def process(self, key: Any, context: Any, elements: Any) -> Any:
        (element,) = elements
        yield key, bounds(context.window()), element[-1]


class AllWithWindow(ProcessAllWindowFunction):
    def process(self, context: Any, elements: Any) -> Any:
        (element,) = elements
        yield "", bounds(context.window()), element[-1]


class Sum(AggregateFunction):
    def create_accumulator(self) -> Any:
        return None, 0

    def add(self, value: Any, accumulator: Any) -> Any:
        return value[0], accumulator[1] + value[2]

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] or acc_b[0], acc_a[1] + acc_b[1]


def plus(left: Any, right: Any) -> Any:
    return left[0], 0, left[2] + right[2]
