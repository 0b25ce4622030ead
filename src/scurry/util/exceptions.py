"""PyFlink's `pyflink.util.exceptions`: names under which programs catch the errors of tables and catalogs.

Where a catalog here has no such thing, such as models and partitions, nothing raises the error.
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


class ModelAlreadyExistException(CatalogError):
    """There is a model of that name already."""


class ModelNotExistException(CatalogError):
    """There is no such model."""


class PartitionAlreadyExistsException(CatalogError):
    """There is such a partition already."""


class PartitionNotExistException(CatalogError):
    """There is no such partition."""


class PartitionSpecInvalidException(CatalogError):
    """A partition names columns that are no partition columns."""


class TableNotPartitionedException(CatalogError):
    """A table has no partitions."""
