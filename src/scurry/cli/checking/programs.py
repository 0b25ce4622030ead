"""Checks a Python program: the names it imports from PyFlink, the methods it calls, its keys and its SQL.

Nothing of the program runs. The kind of a value is followed from imports through calls by the annotations of scurry's
own functions; where it is not known, nothing is said.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import warnings
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache
from textwrap import dedent
from types import ModuleType
from typing import Any, NamedTuple, TypeGuard

import scurry.pyflink_alias  # noqa: F401  so that imports of pyflink fail with the reasons that programs would get
from scurry.cli.checking.findings import Finding, Level
from scurry.cli.checking.spark import COUNTERPARTS, STREAMING
from scurry.cli.checking.statements import Statements, set_option
from scurry.common._api import ApiObject, advice_on_attribute
from scurry.common._config.validation import validate, without_effect
from scurry.errors import ScurryError
from scurry.errors.suggestions import did_you_mean

#: Methods whose first argument is a statement, and those that take a key and a value.
_OF_STATEMENTS = ("execute_sql", "sql_query", "explain_sql", "add_insert_sql", "sql_update", "compile_plan_sql")
_OF_KEYS = ("set", "set_string", "set_integer", "set_float", "set_boolean")
#: Methods that define tables or functions without a statement.
_DEFINE = re.compile(r"(create|register)_\w*(table|view|function|catalog|database)\w*|load_module|use_\w+")
#: Packages whose classes annotations name.
_PUBLIC = (
    "common",
    "datastream",
    "datastream.window",
    "datastream.state",
    "table",
    "cep",
    "datastream.connectors",
)
#: Classes whose names annotations of results do not use for the classes below them.
_EXACT = ("DataStream",)
_KEY = re.compile(r"[a-z][\w-]*(\.[\w-]+)+")
_NO_EFFECT = re.compile(r"(?:has|have) no effect here")


class Thing(NamedTuple):
    """The kind of an expression.

    Attributes:
        is_instance: Whether it is an object of the class `of`; otherwise it is `of` itself.
        is_exact: Whether it is an object of that class and of none below it.
    """

    of: Any
    is_instance: bool = False
    is_exact: bool = False


class Written(NamedTuple):
    """A text, and the expression that writes it."""

    by: ast.expr
    text: str


Scope = dict[str, Thing | None]


def check_program(text: str, path: str) -> list[Finding]:
    """Return the findings of a Python program, in the order of its lines.

    Args:
        path: The file, for the findings.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text)
    except SyntaxError as error:
        return [Finding(path, error.lineno or 1, error.offset or 1, Level.ERROR, f"this is no Python: {error.msg}")]
    first = _Reader(tree, path, is_whole=None)
    first.read()
    found = _Reader(tree, path, is_whole=first.knows_statements).read()
    return sorted(set(found), key=lambda found: found[1:])


class _Reader(ast.NodeVisitor):
    """Reads a program.

    Attributes:
        knows_statements: Whether the text of every statement read so far is known.
    """

    def __init__(self, tree: ast.Module, path: str, is_whole: bool | None) -> None:
        """Begin to read.

        Args:
            is_whole: Whether the text of every statement is known. None reads the program to find that out, and checks
                no statements.
        """
        self._tree, self._path = tree, path
        self._scopes: list[Scope] = [{}]
        self.knows_statements = True
        self._checks_statements = is_whole is not None
        self._texts: list[_Texts] = [_Texts(tree.body)]
        self._found: list[Finding] = []
        self._kinds: dict[int, Thing | None] = {}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
        named = {node.func.attr for node in calls if isinstance(node.func, ast.Attribute)}
        whole = bool(is_whole) and not any(map(_DEFINE.fullmatch, named))
        in_batch = "in_batch_mode" in named and "in_streaming_mode" not in named
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self._statements = Statements(path, whole, in_batch, own_connectors="register_connector" in names | named)
        self._tried = 0

    def read(self) -> list[Finding]:
        self._spark()
        self.visit(self._tree)
        return self._found + list(self._statements.rest())

    # ---------------------------------------------------------------- names

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            kind = self._imported(node, alias.name)
            root = alias.name.partition(".")[0]
            bound = Thing(importlib.import_module("scurry")) if root in ("pyflink", "scurry") else None
            self._scopes[-1][alias.asname or root] = kind if alias.asname else bound

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = None if node.level or node.module is None else self._imported(node, node.module)
        for alias in node.names:
            if module is not None and alias.name == "*":
                for name in getattr(module.of, "__all__", ()):
                    self._scopes[-1][name] = Thing(getattr(module.of, name, None))
                continue
            found = None
            if module is not None:
                found = self._member(alias, module, alias.name)
                if found is None and (below := _module(f"{module.of.__name__}.{alias.name}")) is not None:
                    found = Thing(below)
            self._scopes[-1][alias.asname or alias.name] = found

    def _imported(self, node: ast.stmt, name: str) -> Thing | None:
        """Return a module of PyFlink as scurry has it; None for others."""
        if name.partition(".")[0] not in ("pyflink", "scurry"):
            return None
        try:
            return Thing(importlib.import_module(name))
        except ImportError as error:
            self._say(node, Level.ERROR, str(error))
        return None

    def _member(self, node: ast.AST, of: Thing, name: str) -> Thing | None:
        if of.is_instance:
            return self._attribute(node, of, name)
        try:
            found = getattr(of.of, name)
        except (AttributeError, ImportError) as error:
            if isinstance(of.of, ModuleType):
                if _module(f"{of.of.__name__}.{name}") is None:
                    self._say(node, Level.ERROR, _missing(error, of.of, name))
            elif isinstance(of.of, type) and of.of.__module__.startswith("scurry."):
                self._say(node, Level.ERROR, f"{of.of.__name__} has no {name}{advice_on_attribute(of.of, name)}")
            return None
        return Thing(found)

    def _attribute(self, node: ast.AST, of: Thing, name: str) -> Thing | None:
        cls: type = of.of
        if name in dir(cls):
            found = inspect.getattr_static(cls, name)
            return _of_annotation(found.fget, cls) if isinstance(found, property) else Thing(getattr(cls, name))
        if _lists_attributes(cls) and not _sets(cls, name, with_subclasses=not of.is_exact):
            if not name.startswith("_") or name.startswith("_j_"):
                java = ": there are no objects of Java behind scurry's API"
                advice = java if name.startswith("_j_") else advice_on_attribute(cls, name)
                self._say(node, Level.ERROR, f"{cls.__name__} has no {name}{advice}")
        return None

    # ---------------------------------------------------------------- expressions

    def _kind(self, node: ast.expr | None) -> Thing | None:
        """Return the kind of an expression, None if it is not known."""
        if node is None:
            return None
        if id(node) not in self._kinds:
            self._kinds[id(node)] = self._found_kind(node)
        return self._kinds[id(node)]

    def _found_kind(self, node: ast.expr) -> Thing | None:
        match node:
            case ast.Name(id=name):
                return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)
            case ast.Attribute(value=value, attr=name):
                base = self._kind(value)
                return None if base is None else self._member(node, base, name)
            case ast.Call(func=function):
                return self._called(node, function)
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._kind(value)
        return None

    def _called(self, node: ast.Call, function: ast.expr) -> Thing | None:
        called = self._kind(function)
        if called is None or called.is_instance:
            return None
        self._arguments(node, called.of)
        if (refusal := _refusal(called.of)) is not None:
            self._say(node, Level.ERROR, refusal)
        if isinstance(called.of, type):
            return Thing(called.of, True) if called.of.__module__.startswith("scurry.") else None
        owner = self._kind(function.value) if isinstance(function, ast.Attribute) else None
        said = (inspect.getdoc(called.of) or "").partition("\n\n")[0]
        if said.startswith("Warn that "):
            self._say(node, Level.NOTE, f"{_name(function)}: {said.removeprefix('Warn that ')}")
        elif _NO_EFFECT.search(said):
            self._say(node, Level.NOTE, f"{_name(function)} has no effect here")
        return _of_annotation(called.of, owner.of if owner is not None and isinstance(owner.of, type) else None)

    def _arguments(self, node: ast.Call, called: Any) -> None:
        """Find arguments by names that a function of scurry does not have."""
        if not str(getattr(called, "__module__", "")).startswith("scurry."):
            return
        try:
            parameters = inspect.signature(called).parameters
        except (TypeError, ValueError):
            return
        if any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            return
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg not in parameters:
                hint = did_you_mean(keyword.arg, list(parameters))
                said = f"{_name(node.func)} has no argument {keyword.arg}{f'; {hint}' if hint else ''}"
                self._say(keyword, Level.ERROR, said)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._kind(node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        self._kind(node)
        self.generic_visit(node)
        statement = _statement(node)
        if statement is not None:
            self._statement(statement)
        self._keys(node)

    def _statement(self, statement: ast.expr) -> None:
        known = self._known(statement)
        if known is None:
            self.knows_statements = False
        elif self._checks_statements and not self._tried:
            written, text = known
            quotes = 3 if written.end_lineno != written.lineno else 1
            column = written.col_offset + quotes + isinstance(written, ast.JoinedStr) + 1
            self._found += self._statements.check(text, written.lineno, column, is_in_order=len(self._scopes) == 1)

    def _known(self, node: ast.expr) -> Written | None:
        """Return a text that follows from the program, and the expression that writes it."""
        match node:
            case ast.Constant(value=str(text)):
                return Written(node, text)
            case ast.Name(id=name):
                texts = next((each for each in reversed(self._texts) if each.has(name)), None)
                return None if texts is None else texts.value(name, is_inner=texts is self._texts[-1])
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self._known(value)
            case ast.JoinedStr(values=values):
                parts = [self._known(each) for each in values]
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                parts = [self._known(left), self._known(right)]
            case _:
                return None
        texts_of_parts = [each.text for each in parts if each is not None]
        return Written(node, "".join(texts_of_parts)) if len(texts_of_parts) == len(parts) else None

    def _keys(self, node: ast.Call) -> None:
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in _OF_KEYS or len(node.args) != 2:
            return
        key, value = _text(node.args[0]), node.args[1]
        if key is None or not _KEY.fullmatch(key) or not isinstance(value, ast.Constant):
            return
        of = self._kind(node.func.value)
        if of is None or not of.is_instance or of.of.__name__ not in ("Configuration", "TableConfig"):
            return
        text = str(value.value).lower() if isinstance(value.value, bool) else str(value.value)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                validate({key: text}) if of.of.__name__ == "Configuration" else set_option(key, text)
        except ScurryError as error:
            self._say(node.args[0], Level.ERROR, str(error))
            return
        for said in [*(str(each.message) for each in caught), *without_effect({key: text})]:
            self._say(
                node.args[0], Level.NOTE, f"without effect: {said.removeprefix('configuration without effect: ')}"
            )

    # ---------------------------------------------------------------- scopes

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            self._bind(target, self._kind(node.value))
            if isinstance(target, ast.Name):
                self._texts[-1].set(target.id, self._known(node.value))

    def visit_Try(self, node: ast.Try) -> None:
        self._tried += bool(node.handlers)  # statements there may be wrong on purpose
        for statement in node.body:
            self.visit(statement)
        self._tried -= bool(node.handlers)
        for each in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(each)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
        self._bind(node.target, self._kind(node.value))

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, self._kind(item.context_expr))
        for statement in node.body:
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        self._bind(node.target, None)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in (*node.decorator_list, *node.args.defaults):
            self.visit(each)
        self._scopes[-1][node.name] = None
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        self._scopes.append({each.arg: self._annotated(each.annotation) for each in arguments if each is not None})
        self._texts.append(_Texts(node.body, [each.arg for each in arguments if each is not None]))
        for statement in node.body:
            self.visit(statement)
        self._texts.pop()
        self._scopes.pop()

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._scopes.append({each.arg: None for each in (*node.args.args, *node.args.kwonlyargs)})
        self.visit(node.body)
        self._scopes.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._scopes[-1][node.name] = None
        self._scopes.append({})
        self._texts.append(_Texts(node.body))
        self.generic_visit(node)
        self._texts.pop()
        self._scopes.pop()

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> None:
        names = [name for each in node.generators for name in ast.walk(each.target) if isinstance(name, ast.Name)]
        self._scopes.append({name.id: None for name in names})
        self.generic_visit(node)
        self._scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _annotated(self, annotation: ast.expr | None) -> Thing | None:
        said = len(self._found)
        kind = self._kind(annotation)
        del self._found[said:]  # nothing evaluates it
        if kind is None or not isinstance(kind.of, type) or not kind.of.__module__.startswith("scurry."):
            return None
        return Thing(kind.of, True)

    def _bind(self, target: ast.expr, kind: Thing | None) -> None:
        if isinstance(target, ast.Name):
            self._scopes[-1][target.id] = kind
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                self._bind(each, None)

    # ---------------------------------------------------------------- Spark

    def _spark(self) -> None:
        """Find the counterparts of Structured Streaming, if the program imports PySpark and is about streams."""
        imports = [node for node in ast.walk(self._tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = [each.module or "" if isinstance(each, ast.ImportFrom) else each.names[0].name for each in imports]
        if not any(module.partition(".")[0] == "pyspark" for module in modules):
            return
        used = [
            (node, node.attr if isinstance(node, ast.Attribute) else node.id)
            for node in ast.walk(self._tree)
            if isinstance(node, ast.Attribute | ast.Name)
        ]
        if STREAMING.isdisjoint(name for _, name in used):
            return
        for node, name in used:
            if name in COUNTERPARTS:
                self._say(node, Level.INSTEAD, f"{name}: {COUNTERPARTS[name]}")

    def _say(self, node: ast.AST, level: Level, text: str) -> None:
        line, column = getattr(node, "end_lineno", 1), getattr(node, "col_offset", 0)
        if isinstance(node, ast.Attribute):
            column = node.end_col_offset - len(node.attr) if node.end_col_offset is not None else column
        elif not isinstance(node, ast.Name):
            line = getattr(node, "lineno", 1)
        self._found.append(Finding(self._path, line, column + 1, level, " ".join(text.split())))


class _Texts:
    """The variables of a scope, with the texts that they were set to last.

    Nothing is known of those that branches, loops, targets of `with` and the like set: it takes a run to tell.
    """

    def __init__(self, body: list[ast.stmt], arguments: Iterable[str] = ()) -> None:
        lines = [each for statement in body for each in (statement.body if _is_main(statement) else [statement])]
        plain = [
            each.targets[0].id
            for each in lines
            if isinstance(each, ast.Assign) and len(each.targets) == 1 and isinstance(each.targets[0], ast.Name)
        ]
        names = [each for line in lines for each in ast.walk(line) if isinstance(each, ast.Name)]
        stored = Counter(each.id for each in names if isinstance(each.ctx, ast.Store))
        self._times = Counter(plain)
        self._unknown = {*arguments, *(name for name in stored if stored[name] != self._times[name])}
        self._values: dict[str, Written | None] = {}

    def set(self, name: str, value: Written | None) -> None:
        self._values[name] = value

    def has(self, name: str) -> bool:
        return name in self._unknown or name in self._times

    def value(self, name: str, is_inner: bool) -> Written | None:
        """Return the text of a variable; one that is set again may have any of its values in functions."""
        if name in self._unknown or (not is_inner and self._times[name] > 1):
            return None
        return self._values.get(name)


def _is_main(statement: ast.stmt) -> TypeGuard[ast.If]:
    return isinstance(statement, ast.If) and ast.unparse(statement.test) == "__name__ == '__main__'"


@lru_cache(200)
def _refusal(function: Any) -> str | None:
    """Return why a class or function of scurry refuses every call; None if it does not."""
    if not str(getattr(function, "__module__", "")).startswith("scurry."):
        return None
    code = vars(function).get("__init__") if isinstance(function, type) else function
    try:
        (tree,) = ast.parse(dedent(inspect.getsource(code))).body  # type: ignore[arg-type]
    except (OSError, TypeError, ValueError, SyntaxError):
        return None
    match tree:
        case ast.FunctionDef(
            body=[
                *before,
                ast.Raise(exc=ast.Call(func=ast.Name(id="UnsupportedError"), args=[ast.Constant(value=str(said))])),
            ]
        ) if all(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in before):
            return said
    return None


def _statement(node: ast.Call) -> ast.expr | None:
    """Return the argument of a call that is a statement."""
    if isinstance(node.func, ast.Attribute) and node.func.attr in _OF_STATEMENTS and node.args:
        return node.args[0]
    return None


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _missing(error: Exception, module: ModuleType, name: str) -> str:
    """Return why a module has no name: its own reason, or a similar name."""
    if isinstance(error, ImportError):
        return str(error)
    hint = did_you_mean(name, getattr(module, "__all__", ()) or [each for each in dir(module) if each[0] != "_"])
    return f"{module.__name__.replace('scurry', 'pyflink', 1)} has no {name}{f'; {hint}' if hint else ''}"


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ast.unparse(node)


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except (ImportError, ScurryError):
        return None


@cache
def _classes() -> dict[str, type]:
    """Return scurry's public classes by name, which annotations name."""
    found: dict[str, type] = {}
    for name in (
        "common",
        "datastream",
        "datastream.window",
        "datastream.state",
        "table",
        "cep",
        "datastream.connectors",
    ):
        module = importlib.import_module(f"scurry.{name}")
        for each in getattr(module, "__all__", ()):
            member = getattr(module, each, None)
            if isinstance(member, type):
                found.setdefault(each, member)
    return found


def _of_annotation(function: Any, owner: type | None) -> Thing | None:
    """Return the kind of a function's result, by its annotation."""
    annotation = getattr(function, "__annotations__", {}).get("return")
    if isinstance(annotation, type):
        return Thing(annotation, True)
    if not isinstance(annotation, str):
        return None
    path = annotation.strip("\"'").partition("[")[0].partition(" |")[0].strip()
    name = path.rpartition(".")[2]
    if name == "Self":
        return None if owner is None else Thing(owner, True)
    module = inspect.getmodule(inspect.unwrap(function))
    cls = _below(module, path) or getattr(module, name, None) or _classes().get(name)
    return Thing(cls, True, name in _EXACT) if isinstance(cls, type) and cls.__module__.startswith("scurry.") else None


def _below(module: Any, path: str) -> Any:
    """Return the member of a module, or of a class in it, such as `Schema.Builder`; None without such a member."""
    found = module
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _lists_attributes(cls: type) -> bool:
    """Return whether objects of a class have no attributes but those of the class and those it sets."""
    own = [base for base in cls.__mro__ if "__getattr__" in vars(base)]
    return own == [ApiObject]


def _sets(cls: type, name: str, with_subclasses: bool = True) -> bool:
    """Return whether objects of a class, or of those below it, may have an attribute that the class has not."""
    importlib.import_module("scurry.runtime.driver.client")  # jobs have more methods than JobClient
    own = any(
        name in getattr(base, "__annotations__", ()) or f"self.{name}" in _source(base)
        for base in cls.__mro__
        if base is not object
    )
    subclasses: list[type] = cls.__subclasses__() if with_subclasses else []
    return own or any(name in dir(each) or _sets(each, name) for each in subclasses)


def _source(cls: type) -> str:
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):
        return ""
