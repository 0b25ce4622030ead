"""PyFlink's `pyflink.util.exceptions`: names under which programs catch the errors of tables and catalogs.

The errors of what catalogs here do not have, models and partitions, are only names: nothing raises them.
"""

from __future__ import annotations

from scurry.errors import (
    CatalogError,
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    DatabaseNotExistError,
    FunctionAlreadyExistError,
    FunctionNotExistError,
    TableAlreadyExistError,
    TableNotExistError,
    ValidationError,
)

__all__ = [
    "CatalogException",
    "DatabaseAlreadyExistException",
    "DatabaseNotEmptyException",
    "DatabaseNotExistException",
    "FunctionAlreadyExistException",
    "FunctionNotExistException",
    "ModelAlreadyExistException",
    "ModelNotExistException",
    "PartitionAlreadyExistsException",
    "PartitionNotExistException",
    "PartitionSpecInvalidException",
    "TableAlreadyExistException",
    "TableException",
    "TableNotExistException",
    "TableNotPartitionedException",
]

TableException = ValidationError
CatalogException = CatalogError
DatabaseAlreadyExistException = DatabaseAlreadyExistError
DatabaseNotEmptyException = DatabaseNotEmptyError
DatabaseNotExistException = DatabaseNotExistError
TableAlreadyExistException = TableAlreadyExistError
TableNotExistException = TableNotExistError
FunctionAlreadyExistException = FunctionAlreadyExistError
FunctionNotExistException = FunctionNotExistError


class ModelAlreadyExistException(Exception):
    """There is a model of that name already."""


class ModelNotExistException(Exception):
    """There is no such model."""


class PartitionAlreadyExistsException(Exception):
    """There is such a partition already."""


class PartitionNotExistException(Exception):
    """There is no such partition."""


class PartitionSpecInvalidException(Exception):
    """A partition names columns that are no partition columns."""


class TableNotPartitionedException(Exception):
    """A table has no partitions."""
