"""Block: a mapping of a YAML document whose keys know where they are, so that errors name line and column."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from scurry.common._optional import optional_module
from scurry.common.redaction import has_secret
from scurry.errors import ScurryError, ValidationError
from scurry.errors.suggestions import did_you_mean
from scurry.errors.table import StatementPlace


class Block:
    """A mapping of the document.

    Attributes:
        name: What it is called in messages, such as `source` or `route[2]`.
    """

    def __init__(self, name: str, place: StatementPlace, entries: Mapping[str, tuple[StatementPlace, Any]]) -> None:
        self.name = name
        self.place = place
        self._entries = entries

    def __contains__(self, key: str) -> bool:
        """Return whether a key is there."""
        return key in self._entries

    def keys(self) -> list[str]:
        """Return the keys, in order."""
        return list(self._entries)

    def check(self, known: Collection[str]) -> None:
        """Refuse keys that are not known.

        Raises:
            ValidationError: There is such a key.
        """
        for key in self._entries:
            if key not in known:
                hint = did_you_mean(key, known) or f"there are {', '.join(sorted(known))}"
                raise self.error(key, f"'{key}' is no key of {self.name}").with_hint(hint)

    def text(self, key: str) -> str:
        """Return the text of a key.

        Raises:
            ValidationError: It is not there, or no text.
        """
        if key not in self._entries:
            near = did_you_mean(key, self._entries)
            raise self.error(None, f"{self.name} needs '{key}'").with_hint(near.replace("did you mean", "instead of"))
        value = self._entries[key][1]
        if not isinstance(value, str):
            raise self.error(key, f"'{key}' of {self.name} is one value, no list and no mapping")
        return value

    def names(self, key: str) -> list[str]:
        """Return the names of a list, or of a text with commas between them.

        Raises:
            ValidationError: It is something else.
        """
        value = self._entries[key][1]
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            return list(value)
        return [each.strip() for each in self.text(key).split(",") if each.strip()]

    def find(self, key: str, default: str = "") -> str:
        """Return the text of a key, or a default."""
        return self.text(key) if key in self._entries else default

    def texts(self, without: Collection[str] = ()) -> dict[str, str]:
        """Return all texts, with the keys of mappings joined by dots, as the configuration of Flink has them."""
        found: dict[str, str] = {}
        for key in self._entries:
            if key in without:
                continue
            value = self._entries[key][1]
            if isinstance(value, Block):
                found |= {f"{key}.{name}": text for name, text in value.texts().items()}
            else:
                found[key] = self.text(key)
        return found

    def block(self, key: str) -> Block:
        """Return the mapping of a key.

        Raises:
            ValidationError: It is not there, or no mapping.
        """
        if key not in self._entries:
            raise self.error(None, f"{self.name} needs '{key}'").with_hint(did_you_mean(key, self._entries))
        value = self._entries[key][1]
        if not isinstance(value, Block):
            raise self.error(key, f"'{key}' has to be a mapping of keys to values")
        return value

    def blocks(self, key: str) -> list[Block]:
        """Return the mappings of a list; none without the key.

        Raises:
            ValidationError: It is no list of mappings.
        """
        if key not in self._entries:
            return []
        value = self._entries[key][1]
        found = value if isinstance(value, list) else []
        if not found or not all(isinstance(each, Block) for each in found):
            raise self.error(key, f"'{key}' has to be a list of mappings").with_hint("each begins with '- '")
        return found

    def error(self, key: str | None, text: str) -> ValidationError:
        """Return an error about a key, or about the whole block."""
        place = self.place if key is None or key not in self._entries else self._entries[key][0]
        found = ValidationError(f"{place}: {text}")
        found.statement = place
        return found

    def explained(self, error: ScurryError) -> ValidationError:
        """Return an error of a connector with the place of the key that it names, if it names one."""
        text = " ".join(str(error).split())
        notes = getattr(error, "__notes__", ())
        whole = " ".join([text, *notes])
        named = [key for key in self._entries if f"'{key}'" in whole or f": {key}" in whole]
        found = self.error(max(named, key=len, default=None), f"{self.name}: {text}")
        for note in notes:
            found.add_note(note)
        return found


def read_document(path: Path) -> Block:
    """Return the document of a file.

    Raises:
        ValidationError: It is no YAML, or its root is no mapping.
        ExtraMissingError: PyYAML is missing.
    """
    yaml = optional_module("a pipeline", "pyyaml", "pipelines", "yaml")
    text = path.read_text(encoding="utf-8")
    try:
        root = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = StatementPlace(text, mark.index, mark.index + 1, path.name)
        found = ValidationError(f"{place}: no YAML: {error.problem}")
        found.statement = place
        raise found from None
    start = StatementPlace(text, 0, 1, path.name)
    if not isinstance(root, yaml.MappingNode):
        raise Block("the pipeline", start, {}).error(None, "a pipeline is a mapping with 'source' and 'sink'")
    return _Reader(text, path.name, root).block("the pipeline", root)


class _Reader:
    def __init__(self, text: str, file: str, root: Any) -> None:
        self._file = file
        self._text = _without_secrets(text, root)

    def block(self, name: str, node: Any) -> Block:
        entries: dict[str, tuple[StatementPlace, Any]] = {}
        place = self._place(node)
        for key, value in node.value:
            if key.value in entries:
                raise Block(name, self._place(key), {}).error(None, f"'{key.value}' is there twice")
            entries[key.value] = (self._place(key), self._value(key.value, value))
        return Block(name, place, entries)

    def _value(self, name: str, node: Any) -> Any:
        import yaml

        if isinstance(node, yaml.MappingNode):
            return self.block(name, node)
        if isinstance(node, yaml.SequenceNode):
            return [self._value(f"{name}[{at}]", each) for at, each in enumerate(node.value, 1)]
        return "" if node.tag.endswith(":null") else str(node.value)

    def _place(self, node: Any) -> StatementPlace:
        end = node.start_mark.index + len(node.value) if isinstance(node.value, str) else node.start_mark.index + 1
        return StatementPlace(self._text, node.start_mark.index, end, self._file)


def _without_secrets(text: str, node: Any) -> str:
    """Return the text with stars in place of secret values, so that errors may show its lines."""
    import yaml

    if isinstance(node, yaml.SequenceNode):
        for each in node.value:
            text = _without_secrets(text, each)
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(value, yaml.ScalarNode):
                if has_secret(str(key.value), str(value.value)):
                    start, end = value.start_mark.index, value.end_mark.index
                    text = text[:start] + "*" * (end - start) + text[end:]
            else:
                text = _without_secrets(text, value)
    return text
