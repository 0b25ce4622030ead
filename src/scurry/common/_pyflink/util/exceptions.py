"""PyFlink's `pyflink.util.exceptions`: names under which programs catch the errors of tables and catalogs."""

from __future__ import annotations

from scurry.errors import (
    CatalogError,
    DatabaseAlreadyExistError,
    DatabaseNotEmptyError,
    DatabaseNotExistError,
    FunctionAlreadyExistError,
    FunctionNotExistError,
    ModelAlreadyExistError,
    ModelNotExistError,
    PartitionAlreadyExistError,
    PartitionNotExistError,
    PartitionSpecInvalidError,
    ScurryError,
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
    "JavaException",
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

JavaException = ScurryError
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
ModelAlreadyExistException = ModelAlreadyExistError
ModelNotExistException = ModelNotExistError
