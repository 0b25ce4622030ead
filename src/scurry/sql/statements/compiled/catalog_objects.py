"""Tables and functions in compiled plans: how they are stored and found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scurry.common._config.tables import PLAN_COMPILE_CATALOG_OBJECTS, PLAN_RESTORE_CATALOG_OBJECTS
from scurry.common.redaction import has_secret
from scurry.errors import UnsupportedError, ValidationError
from scurry.sql.catalog.entries import CatalogTable, ContextResolvedTable, InlineTable
from scurry.sql.catalog.identifier import ObjectIdentifier
from scurry.sql.catalog.schema import ResolvedSchema
from scurry.sql.functions.user.definition import UserFunction
from scurry.sql.statements.compiled.encoding import Decoder, Encoder
from scurry.sql.statements.session import TableSession

_COMPILE, _RESTORE = PLAN_COMPILE_CATALOG_OBJECTS.key, PLAN_RESTORE_CATALOG_OBJECTS.key


def kept_table(session: TableSession, encoder: Encoder, found: ContextResolvedTable) -> dict[str, Any]:
    """Return the JSON object of a table in a plan.

    Of a temporary table that is its name, and all of one that is in no catalog; else it is what the setting says.

    Raises:
        UnsupportedError: The table is an object of the program.
    """
    table = found.table
    if isinstance(table, InlineTable):
        raise UnsupportedError(
            f"the statement cannot be compiled: table {found.identifier.as_summary_string()} is made of a stream or of "
            "data of the program, which no plan can keep"
        )
    kept: dict[str, Any] = {"identifier": list(found.identifier.path)}
    anonymous = found.identifier.is_anonymous
    objects = "ALL" if anonymous else session.get(PLAN_COMPILE_CATALOG_OBJECTS)
    if (found.temporary and not anonymous) or objects == "IDENTIFIER":
        return kept
    assert isinstance(table, CatalogTable)
    resolved = {
        "schema": encoder.encoded(table.schema),
        "partitionKeys": list(table.partition_keys),
        "distribution": encoder.encoded(table.distribution),
    }
    if objects == "ALL":
        secret = sorted(key for key, value in table.options.items() if has_secret(key, value))
        options = {key: value for key, value in table.options.items() if key not in secret}
        resolved |= {"options": options, "secretOptions": secret, "comment": table.comment}
    return {**kept, "resolvedTable": resolved}


def restored_table(session: TableSession, decoder: Decoder, kept: Mapping[str, Any]) -> ContextResolvedTable:
    """Return the table of which a plan has kept something.

    Raises:
        ValidationError: The plan has not kept enough, or the catalog has another schema.
    """
    path = kept["identifier"]
    if len(path) == 1:
        resolved = kept["resolvedTable"]
        options = resolved["options"] | _secrets(f"table '{path[0]}'", resolved["secretOptions"], {})
        return ContextResolvedTable(ObjectIdentifier.anonymous(path[0]), _table(decoder, resolved, options))
    identifier = ObjectIdentifier(*path)
    restore = session.get(PLAN_RESTORE_CATALOG_OBJECTS)
    found = session.catalogs.find_table(identifier)
    resolved = kept.get("resolvedTable")
    name = identifier.as_summary_string()
    is_complete = resolved is not None and "options" in resolved
    is_permanent = found is not None and not found.temporary
    if restore == "ALL_ENFORCED" and not is_complete and (is_permanent or (resolved is None and found is None)):
        raise ValidationError(
            f"The persisted plan does not include all required catalog metadata for table '{name}'. However, lookup is "
            f"disabled because option '{_RESTORE}' = 'ALL_ENFORCED'. Either enable the catalog lookup with '{_RESTORE}'"
            f" = 'IDENTIFIER' / 'ALL' or regenerate the plan with '{_COMPILE}' != 'IDENTIFIER'. Make sure the table is "
            "not compiled as a temporary table."
        )
    schema = None if resolved is None else decoder.decoded(resolved["schema"])
    if found is not None and schema is not None:
        _check_schema(name, schema, found.table.schema)
    if resolved is None or schema is None or restore == "IDENTIFIER" or (found is not None and not is_complete):
        return _looked_up(name, found, restore)
    options = dict(resolved.get("options", {}))
    if found is not None and restore == "ALL":
        options = _enriched(options, found.table.options)
    known = {} if found is None else found.table.options
    options |= _secrets(f"table '{name}'", resolved.get("secretOptions", ()), known)
    return ContextResolvedTable(identifier, _table(decoder, resolved, options))


def _table(decoder: Decoder, resolved: Mapping[str, Any], options: Mapping[str, str]) -> CatalogTable:
    return CatalogTable(
        decoder.decoded(resolved["schema"]),
        resolved.get("comment"),
        dict(options),
        tuple(resolved["partitionKeys"]),
        decoder.decoded(resolved["distribution"]),
    )


def _looked_up(name: str, found: ContextResolvedTable | None, restore: str) -> ContextResolvedTable:
    if found is not None:
        return found
    if restore == "IDENTIFIER":
        raise ValidationError(
            f"Cannot resolve table '{name}' and catalog lookup is forced because '{_RESTORE}' = 'IDENTIFIER'. Either "
            f"regenerate the plan with '{_COMPILE}' != 'IDENTIFIER' or make sure the table is available."
        )
    raise ValidationError(
        f"Cannot resolve table '{name}' and the persisted plan does not include all required catalog table metadata. "
        "Make sure a registered catalog contains the table when restoring or the table is available as a temporary "
        f"table. Otherwise regenerate the plan with '{_COMPILE}' != 'IDENTIFIER' and make sure the table was not "
        "compiled as a temporary table."
    )


def _check_schema(name: str, kept: ResolvedSchema, found: ResolvedSchema) -> None:
    if kept != found:
        raise ValidationError(
            f"The schema of table '{name}' from the persisted plan does not match the schema loaded from the catalog: "
            f"'{kept}' != '{found}'. Make sure the table schema in the catalog is still identical."
        )


def _enriched(kept: Mapping[str, str], found: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a table: those of its location may have changed in the catalog meanwhile."""
    return {key: value if key in ("connector", "format") else found.get(key, value) for key, value in kept.items()}


def secrets_of_model(session: TableSession, path: tuple[str, ...], keys: Sequence[str]) -> dict[str, str]:
    """Return the options of a model that no plan keeps, from the catalog.

    Raises:
        ValidationError: The catalog has no such model, or its options lack them.
    """
    found = session.catalogs.models.find(ObjectIdentifier(*path))
    return _secrets(f"model '{'.'.join(path)}'", keys, {} if found is None else found.model.options)


def _secrets(named: str, keys: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """Return the options of a table or a model that no plan keeps, from those in the catalog.

    Raises:
        ValidationError: The catalog lacks one.
    """
    missing = [key for key in keys if key not in known]
    if missing:
        listed = ", ".join(f"'{key}'" for key in missing)
        kind = named.partition(" ")[0]
        raise ValidationError(
            f"A compiled plan keeps no secrets: {listed} of {named} must come from the catalog\n"
            f"  hint: create the {kind} with these options, also as a temporary one, before the plan is executed"
        )
    return {key: known[key] for key in keys}


class FunctionNames:
    """The user-defined functions by the names with which a session has registered them."""

    def __init__(self, session: TableSession) -> None:
        self._names = session.catalogs.functions.list_user_functions
        self._catalog = session.catalog()

    def name_of(self, function: UserFunction) -> str:
        """Return the name of a function.

        Raises:
            ValidationError: It is not registered.
        """
        for name in self._names():
            other = self._found(name)
            if other is not None and _is_same(other, function):
                return name
        raise ValidationError(
            f"Anonymous function '{function.name}' is not serializable. The function's implementation object might be "
            "stateful or an object of the program: register it with create_temporary_system_function"
        )

    def function(self, name: str) -> UserFunction:
        """Return the function of a name.

        Raises:
            ValidationError: No function has the name.
        """
        found = self._found(name)
        if found is None:
            raise ValidationError(
                f"Cannot resolve function '{name}' and the persisted plan does not include all required catalog "
                "metadata: register it before the plan is loaded"
            )
        return found

    def _found(self, name: str) -> UserFunction | None:
        return self._catalog.find_system_function(name) or self._catalog.find_function((name,))


def _is_same(one: UserFunction, other: UserFunction) -> bool:
    # A function that is imported by its path is created again each time.
    return one is other or all(getattr(one, name) == getattr(other, name) for name in ("kind", "name", "origin"))
