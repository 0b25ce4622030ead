"""MessageDefinition: the message of a table, found by the name of its class or in a file of descriptors."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from scurry._dataclasses import dataclass
from scurry.connectors.files.filesystem import file_system
from scurry.errors import ValidationError

if TYPE_CHECKING:
    from google.protobuf.message import Message


@dataclass(frozen=True)
class MessageDefinition:
    """A message; picklable.

    Attributes:
        files: The FileDescriptorSet of the files that define it.
        name: Its full name there.
    """

    files: bytes
    name: str

    def message_class(self) -> type[Message]:
        from scurry.connectors.protobuf import defined

        return defined(self.files, self.name)


def find_definition(name: str, descriptor_file: str | None) -> MessageDefinition:
    """Return the message of a name.

    Args:
        name: The path of a Python class; with a file the message's full name there, or the name of its Java class.
        descriptor_file: Path or address of a FileDescriptorSet.

    Raises:
        ValidationError: There is no such message.
    """
    try:
        return _imported(name) if descriptor_file is None else _described(name, descriptor_file)
    except _NotFoundError as error:
        raise ValidationError(f"get {name} descriptors error!\n{error}") from None


class _NotFoundError(Exception):
    """Why there is no such message."""


def _imported(name: str) -> MessageDefinition:
    from google.protobuf.message import Message

    from scurry.connectors.protobuf import definition_of

    found = _object(name)
    if not (isinstance(found, type) and issubclass(found, Message)):
        raise _NotFoundError(f"{name} is {found!r}, not a message class that protoc has generated.")
    return MessageDefinition(*definition_of(found))


def _object(name: str) -> Any:
    """Return the object of a path of Python: a module's name, and names inside it."""
    parts = name.replace("$", ".").split(".")
    for length in range(len(parts) - 1, 0, -1):
        module = ".".join(parts[:length])
        try:
            found: Any = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is not None and (module == error.name or module.startswith(error.name + ".")):
                continue
            raise _NotFoundError(f"the module {module} cannot be imported: {error}") from None
        except Exception as error:  # whatever the code of a user's module does
            raise _NotFoundError(f"the module {module} cannot be imported: {type(error).__name__}: {error}") from None
        for part in parts[length:]:
            if not hasattr(found, part):
                raise _NotFoundError(f"the module {module} has no {'.'.join(parts[length:])}.")
            found = getattr(found, part)
        return found
    raise _NotFoundError(
        "there is no such Python class: name one that protoc has generated (protoc --python_out), such as "
        "'shop.orders_pb2.Order', in a directory of PYTHONPATH; or set 'protobuf.descriptor-file' to what protoc "
        "--include_imports --descriptor_set_out writes, as a class of Java cannot be loaded."
    )


def _described(name: str, path: str) -> MessageDefinition:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.message import DecodeError

    fs, inside = file_system(path)
    if not fs.exists(inside):
        raise _NotFoundError(f"there is no file {path}.")
    with fs.open_input(inside) as stream:
        files = stream.read()
    try:
        described = FileDescriptorSet.FromString(files)
    except DecodeError as error:
        raise _NotFoundError(
            f"{path} is no FileDescriptorSet, as protoc --descriptor_set_out writes: {error}"
        ) from None
    names = {alias: full for file in described.file for full, aliases in _messages(file) for alias in (full, *aliases)}
    if name not in names:
        listed = ", ".join(sorted(set(names.values()))) or "none"
        raise _NotFoundError(f"{path} does not define it; its messages are: {listed}.")
    found = MessageDefinition(files, names[name])
    try:
        found.message_class()
    except TypeError as error:
        raise _NotFoundError(
            f"{path} lacks files that it imports: write it with --include_imports ({error})."
        ) from None
    return found


def _messages(file: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the full name of each message of a file, with the names of its Java class."""
    package = file.options.java_package or file.package
    outer = file.options.java_outer_classname or _outer_class(file)
    begin = f"{package}." if package else ""
    inside = [begin] if file.options.java_multiple_files else [f"{begin}{outer}.", f"{begin}{outer}$"]

    def below(messages: Any, space: str, path: tuple[str, ...]) -> Iterator[tuple[str, list[str]]]:
        for message in messages:
            names = (*path, message.name)
            yield f"{space}{message.name}", [first + by.join(names) for first in inside for by in ".$"]
            yield from below(message.nested_type, f"{space}{message.name}.", names)

    yield from below(file.message_type, f"{file.package}." if file.package else "", ())


def _outer_class(file: Any) -> str:
    """Return the name that protoc gives the class around the messages of a file."""
    base = file.name.rpartition("/")[2].removesuffix(".proto")
    name = "".join(part[:1].upper() + part[1:] for part in base.replace("-", "_").split("_"))
    taken = {each.name for each in (*file.message_type, *file.enum_type, *file.service)}
    return f"{name}OuterClass" if name in taken else name
