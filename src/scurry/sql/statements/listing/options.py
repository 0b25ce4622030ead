"""The names that options and settings can have: connectors, formats, providers, kinds of catalogs, and keys."""

from __future__ import annotations

from collections.abc import Mapping

from scurry.common._config.validation import known_options
from scurry.errors import ScurryError
from scurry.sql.catalog.entries import CatalogTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.catalog.store import catalog_kinds
from scurry.sql.connectors.contract import TableContext
from scurry.sql.connectors.factories import find_factory, identifiers
from scurry.sql.connectors.watermark_options import WATERMARK_OPTIONS
from scurry.sql.formats.registry import FORMATS
from scurry.sql.models.factories import PROVIDERS, option_names
from scurry.sql.statements.table_options import setting_keys


def settings() -> list[str]:
    """Return the keys of SET that have an effect, in alphabetical order."""
    return sorted({*setting_keys(), *(option.key for option in known_options())})


def option_values(key: str, options: Mapping[str, str]) -> list[str]:
    """Return the values that an option can have, none if it has no list of them.

    Args:
        options: The options that are written beside it.
    """
    if key == "connector":
        return identifiers()
    if key == "provider":
        return sorted(PROVIDERS)
    if key == "type":
        return catalog_kinds()
    if key == "format" or key.endswith(".format"):
        return sorted(FORMATS)
    return []


def option_keys(options: Mapping[str, str]) -> list[str]:
    """Return the options that a table or a model can have beside some, in alphabetical order.

    Args:
        options: The options that are written; without a connector or a provider it is the only one.
    """
    connector = options.get("connector")
    if "provider" in options:
        return sorted(set(option_names(options["provider"])) - set(options))
    if connector not in identifiers():
        return ["connector"]
    table = CatalogTable(ResolvedSchema.physical([], []), None, dict(options))
    context = TableContext(ObjectIdentifier("", "", ""), table, dict(options), "UTC", True)
    try:
        factory = find_factory(connector)
    except ScurryError:
        return []  # a package that cannot be imported
    keys = {option.key for option in factory.options(context) if not option.without_effect}
    try:
        keys.update(factory.other_keys(context))
    except ScurryError:
        pass  # the format is being written
    if factory.with_watermark_options:
        keys.update(option.key for option in WATERMARK_OPTIONS)
    return sorted(keys - set(options))
