"""Answers of scurry to the statements of a transcript, compared with Flink's."""

from __future__ import annotations

import contextlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from scurry.errors import ScurryError
from scurry.table import EnvironmentSettings, TableEnvironment
from support.statements.files import (
    is_batch,
    is_unordered,
    recorded,
    settings_of,
    statements,
    text_of,
    write_files,
)

_WRITING = ("INSERT", "EXECUTE", "CREATE", "COMPILE")


@dataclass(frozen=True)
class Answer:
    """What Flink and scurry answer to a statement."""

    statement: str
    flink: str
    scurry: str
    unordered: bool = False

    @property
    def both_refuse(self) -> bool:
        return self.flink.startswith("!") and self.scurry.startswith("!")

    @property
    def is_same(self) -> bool:
        """Whether the rows are the same, or scurry's error has the words of Flink's or of one of its causes."""
        if not self.both_refuse:
            return self.flink == self.scurry or (self.unordered and _sorted(self.flink) == _sorted(self.scurry))
        own = _words(self.scurry)
        messages = re.split(r"^! \w+: ", self.flink, flags=re.MULTILINE)[1:]
        causes = [_words(message) for message in messages if not message.startswith(_WITHOUT_CAUSE)]
        return any(cause and (cause in own or own in cause) for cause in causes)

    def __str__(self) -> str:
        return f"{self.statement}\nFlink:\n{self.flink}\nscurry:\n{self.scurry}"


def _sorted(text: str) -> list[str]:
    """Return the lines in order; of changes the rows after all of them."""
    lines = text.splitlines()
    if not any(line.startswith("| op |") for line in lines):
        return sorted(lines)
    rows: Counter[str] = Counter()
    for line in lines:
        if change := re.match(r"\| ([+-])[IUD] \|", line):
            rows[line[change.end() :]] += 1 if change[1] == "+" else -1
    others = [line for line in lines if not re.match(r"\| [+-][IUD] \||\d+ rows? in set", line)]
    return sorted([*others, *rows.elements(), *(f"negative {row}" for row, count in rows.items() if count < 0)])


#: Messages of Flink that say which table, and repeat its options, but not what is wrong.
_WITHOUT_CAUSE = ("Unable to create a source for", "Unable to create a sink for")

#: What messages of Flink say of classes of Java, and what scurry says instead.
_OF_JAVA = (
    (r" that implements '[\w.$]+' in the classpath|for enum class [\w.$]+|in class '[\w.$]+'| in the classpath", ""),
    (r"The Dynamic\w+ class '[\w.$]+' supports.*", ""),
    (r"requires that the underlying DynamicTableSink of table (\S+) implements the SupportsOverwrite interface.",
     r"requires a connector that can overwrite: that of table \1 cannot."),
    (r"the underlying DynamicTableSink doesn't implement the SupportsWritingMetadata interface",
     "its connector writes no metadata"),
    (r"the underlying DynamicTableSink doesn't implement the SupportsBucketing interface", "its connector has none"),
    (r"the table hasn't implemented the interface \S+SupportsTruncate.",
     "its connector cannot remove all of its rows."),
    (r"the corresponding dynamic table sink has not yet implemented \S+SupportsRowLevelDelete.",
     "its connector cannot delete rows."),
    (r"the corresponding dynamic table sink has not yet implemented \S+SupportsRowLevelUpdate.",
     "its connector cannot update rows."),
    (r"getTable\(ObjectPath, long\) is not implemented.*",
     "FOR SYSTEM_TIME AS OF outside of joins is not supported: no catalog here keeps versions of its tables."),
    (r" for class [\w.$]+", ""),
    (r"java.lang.Integer", "INT"),
    # lists of names: scurry separates them by commas, and lists what there is in a hint
    (r"Supported options:[\s\S]*", ""),
    (r",", ""),
)  # fmt: skip


def _words(text: str) -> str:
    text = text.replace("! ", " ")
    for words, own in _OF_JAVA:
        text = re.sub(words, own, text)
    return " ".join(text.split())


def answers(name: str, directory: str) -> Iterator[Answer]:
    """Execute the statements of a transcript, one after the other."""
    text = text_of(name)
    write_files(text, directory)
    environment = _environment(is_batch(text))
    for key, value in settings_of(text).items():
        environment.get_config().set(key, value)
    for statement, expected in zip(statements(text), recorded(name), strict=True):
        answer = _answer(environment, statement, directory)
        yield Answer(statement, expected, answer, is_unordered(text))


def _environment(batch: bool) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    environment = TableEnvironment.create(settings)
    environment.get_config().set("table.local-time-zone", "UTC").set("scurry.runner", "local")
    return environment


def _answer(environment: TableEnvironment, statement: str, directory: str) -> str:
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            result = environment.execute_sql(statement.replace("{tmp}", directory))
            if result.get_job_client() is not None and statement.split()[0].upper() in _WRITING:
                result.wait()
            else:
                result.print()
    except ScurryError as error:
        return f"! {error}".replace(directory, "{tmp}")
    schema = str(result.get_resolved_schema()).replace("\n", " ")
    answer = f"= {result.get_result_kind()} {schema}\n{output.getvalue()}"
    return answer.replace(directory, "{tmp}").strip("\n")
