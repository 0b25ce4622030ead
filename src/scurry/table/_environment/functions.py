"""User-defined functions, and their dependencies on workers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from scurry.errors import ArgumentTypeError, UnsupportedError
from scurry.table._environment.base import EnvironmentBase

if TYPE_CHECKING:
    from scurry.sql.catalog.entries import CatalogFunction
    from scurry.table.table import Table


class FunctionMethods(EnvironmentBase):
    """User-defined functions, and their dependencies on workers."""

    def drop_function(self, path: str) -> bool:
        """Remove a permanent function; return whether there was one.

        Args:
            path: Its name.
        """
        return self._session.catalogs.functions.drop(self._named(path), if_exists=True)

    def drop_temporary_function(self, path: str) -> bool:
        """Remove a temporary function; return whether there was one.

        Args:
            path: Its name.
        """
        return self._session.catalogs.functions.drop_temporary(self._named(path), if_exists=True)

    def drop_temporary_system_function(self, name: str) -> bool:
        """Remove a temporary system function; return whether there was one.

        Args:
            name: Its name.
        """
        return self._session.catalogs.functions.drop_system(name, if_exists=True)

    def create_temporary_function(self, path: str, function: Any) -> None:
        """Register a temporary function of a database.

        Args:
            path: Its name, of one to three parts.
            function: What `udf`, `udtf` or `udaf` returned, or an aggregate function that says its types.

        Raises:
            ValidationError: There is one of that name.
            ArgumentTypeError: It is no function of a table.
        """
        self._session.catalogs.functions.create_temporary(self._named(path), _registered(function), False)

    def create_temporary_system_function(self, name: str, function: Any) -> None:
        """Register a temporary function of the session; it hides a built-in one of that name.

        Args:
            name: Its name.
            function: What `udf`, `udtf` or `udaf` returned, or an aggregate function that says its types.

        Raises:
            ValidationError: There is one of that name.
            ArgumentTypeError: It is no function of a table.
        """
        self._session.catalogs.functions.create_system(name, _registered(function))

    def from_call(self, func: Any, *arguments: Any) -> Table:
        """Return the rows of a process table function.

        Args:
            func: What `udptf` returned, a `ProcessTableFunction`, or the name of one that is registered.
            *arguments: Its arguments: tables and partitioned tables, values, expressions, and what `as_argument`
                returned.

        Raises:
            ValidationError: It is no such function, or an argument is wrong.
        """
        from scurry.table._operations.processing import TableGiven, processed
        from scurry.table.partitioned_table import PartitionedTable, TableArgument
        from scurry.table.table import Table

        given = [
            TableGiven(each._plan, None)
            if isinstance(each, Table)
            else each._given(None)
            if isinstance(each, PartitionedTable)
            else each._given
            if isinstance(each, TableArgument)
            else each
            for each in arguments
        ]
        return Table(self, processed(self._session, func, given))  # type: ignore[arg-type]

    def create_java_function(
        self, path: str, function_class_name: str, ignore_if_exists: bool | None = None
    ) -> NoReturn:
        """Refuse: there are no functions of Java.

        Raises:
            UnsupportedError: Always.
        """
        raise _java(function_class_name)

    def create_java_temporary_function(self, path: str, function_class_name: str) -> NoReturn:
        """Refuse: there are no functions of Java.

        Raises:
            UnsupportedError: Always.
        """
        raise _java(function_class_name)

    def create_java_temporary_system_function(self, name: str, function_class_name: str) -> NoReturn:
        """Refuse: there are no functions of Java.

        Raises:
            UnsupportedError: Always.
        """
        raise _java(function_class_name)

    # ------------------------------------------------------------------ what workers need

    def add_python_file(self, file_path: str) -> None:
        """Send a file or directory of Python code to workers, which can import from it.

        Args:
            file_path: Its path. The one added last is searched first.
        """
        before = self._session.configuration.get_string(_FILES, "")
        self._session.configuration.set_string(_FILES, f"{file_path},{before}" if before else file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Set the packages that workers need.

        Args:
            requirements_file_path: The path of a requirements.txt.
            requirements_cache_dir: A directory with the packages; None to download them.
        """
        parts = [requirements_file_path, *([requirements_cache_dir] if requirements_cache_dir else [])]
        self._session.configuration.set_string(_REQUIREMENTS, "#".join(parts))

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Send an archive to workers, unpacked.

        Args:
            archive_path: Its path.
            target_dir: Where it is, in the working directory of a worker; None for the name of the archive.
        """
        before = self._session.configuration.get_string(_ARCHIVES, "")
        archive = f"{archive_path}#{target_dir}" if target_dir else archive_path
        self._session.configuration.set_string(_ARCHIVES, f"{before},{archive}" if before else archive)


_FILES = "python.files"
_REQUIREMENTS = "python.requirements"
_ARCHIVES = "python.archives"


def _java(class_name: str) -> UnsupportedError:
    return UnsupportedError(
        f"{class_name}: functions of Java cannot be called; write the function in Python and register what udf(), "
        "udtf() or udaf() returns with create_temporary_function"
    )


def _registered(function: Any) -> CatalogFunction:
    """Return a function as catalogs keep it.

    Raises:
        ArgumentTypeError: It has no types, or is none.
    """
    from scurry.sql.catalog.entries import CatalogFunction
    from scurry.table.udf import ImperativeAggregateFunction, ProcessTableFunction, udaf, udptf

    if isinstance(function, ImperativeAggregateFunction):
        function = udaf(function)
    if isinstance(function, ProcessTableFunction):
        function = udptf(function)
    make = getattr(function, "_user_function", None)
    if make is None:
        raise ArgumentTypeError(
            f"expected what udf(), udtf() or udaf() returns, got {function!r}: they declare the types of a function"
        )
    return CatalogFunction("", "PYTHON", make())
