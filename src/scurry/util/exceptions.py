"""PyFlink's `pyflink.util.exceptions`: names under which programs catch the errors of tables and catalogs.

The errors of models, which catalogs here do not have, are only names: nothing raises them.
"""

from __future__ import annotations

from scurry.errors import (
    CatalogError,
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    DatabaseNotExistError,
    FunctionAlreadyExistError,
    FunctionNotExistError,
    PartitionAlreadyExistError,
    PartitionNotExistError,
    PartitionSpecInvalidError,
    TableAlreadyExistError,
    TableNotExistError,
    TableNotPartitionedError,
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
PartitionAlreadyExistsException = PartitionAlreadyExistError
PartitionNotExistException = PartitionNotExistError
PartitionSpecInvalidException = PartitionSpecInvalidError
TableNotPartitionedException = TableNotPartitionedError


class ModelAlreadyExistException(Exception):
    """There is a model of that name already."""


class ModelNotExistException(Exception):
    """There is no such model."""
