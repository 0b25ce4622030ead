"""Definitions of Protocol Buffers' messages, with which tasks need no generated module."""

from __future__ import annotations

import functools

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.descriptor import FieldDescriptor, FileDescriptor
from google.protobuf.message import Message


def definition_of(message_class: type[Message]) -> tuple[bytes, str]:
    """Return the files that define a message, each after those it imports, and the message's full name."""
    files: dict[str, FileDescriptor] = {}

    def collect(file: FileDescriptor) -> None:
        for imported in file.dependencies:
            if imported.name not in files:
                collect(imported)
        files[file.name] = file

    collect(message_class.DESCRIPTOR.file)
    definition = descriptor_pb2.FileDescriptorSet()
    for file in files.values():
        file.CopyToProto(definition.file.add())
    return definition.SerializeToString(), message_class.DESCRIPTOR.full_name


@functools.lru_cache(maxsize=256)
def defined(definition: bytes, name: str) -> type[Message]:
    """Return a class of messages from its definition.

    Args:
        definition: A FileDescriptorSet, in which every file is after those it imports.
        name: The message's full name.
    """
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(definition).file:
        pool.Add(file)
    made: type[Message] = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
    return made


def is_repeated(field: FieldDescriptor) -> bool:
    """Return whether a field is repeated, as maps are, too."""
    known = getattr(field, "is_repeated", None)  # newer versions deprecate the label
    return bool(field.label == FieldDescriptor.LABEL_REPEATED if known is None else known)


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)
