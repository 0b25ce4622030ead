"""The cache of lookups, and what Flink's options of it mean."""

from __future__ import annotations

import pytest

from scurry.connectors.lookup_cache import CacheSettings, LookupCache
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.table_options import Options
from scurry.sql.connectors.jdbc.options import lookup_cache


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_the_key_that_was_unused_for_longest_is_removed_first() -> None:
    cache = LookupCache[str](CacheSettings(max_rows=2))
    cache.put(1, ["a"])
    cache.put(2, ["b"])
    assert cache.get(1) == ["a"]
    cache.put(3, ["c"])
    assert [cache.get(key) for key in (1, 2, 3)] == [["a"], None, ["c"]]


def test_use_does_not_delay_expiry_after_write() -> None:
    clock = Clock()
    cache = LookupCache[str](CacheSettings(expire_after_write=2000), clock)
    cache.put(1, ["a"])
    clock.seconds = 1.9
    assert cache.get(1) == ["a"]
    clock.seconds = 2.0
    assert cache.get(1) is None


def test_use_delays_expiry_after_access() -> None:
    clock = Clock()
    cache = LookupCache[str](CacheSettings(expire_after_access=2000), clock)
    cache.put(1, ["a"])
    clock.seconds = 1.9
    assert cache.get(1) == ["a"]
    clock.seconds = 3.8
    assert cache.get(1) == ["a"]
    clock.seconds = 5.8
    assert cache.get(1) is None


def test_keys_without_rows_are_kept_unless_the_settings_say_otherwise() -> None:
    kept, not_kept = LookupCache[str](CacheSettings()), LookupCache[str](CacheSettings(missing_keys=False))
    kept.put(1, [])
    not_kept.put(1, [])
    assert (kept.get(1), not_kept.get(1)) == ([], None)


def test_without_options_nothing_is_cached() -> None:
    assert lookup_cache(Options({})) is None


def test_a_partial_cache_has_the_limits_of_its_options() -> None:
    given = {"max-rows": "7", "expire-after-write": "1 s", "expire-after-access": "2 s", "cache-missing-key": "false"}
    options = {f"lookup.partial-cache.{key}": value for key, value in given.items()}
    assert lookup_cache(Options(options)) is None
    assert lookup_cache(Options(options | {"lookup.cache": "partial"})) == CacheSettings(7, 1000, 2000, False)


def test_the_former_options_make_a_cache() -> None:
    options = {"lookup.cache.max-rows": "7", "lookup.cache.ttl": "1 s", "lookup.cache.caching-missing-key": "false"}
    assert lookup_cache(Options(options)) == CacheSettings(7, 1000, None, False)


def test_a_partial_cache_without_a_limit_is_refused() -> None:
    with pytest.raises(ValidationError) as error:
        lookup_cache(Options({"lookup.cache": "PARTIAL"}))
    assert str(error.value).startswith(
        "Missing 'lookup.partial-cache.expire-after-access', 'lookup.partial-cache.expire-after-write' or "
        "'lookup.partial-cache.max-rows' in the configuration. The cache will not have evictions"
    )


def test_a_copy_of_the_whole_table_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="'lookup.cache' = 'FULL'"):
        lookup_cache(Options({"lookup.cache": "FULL"}))
