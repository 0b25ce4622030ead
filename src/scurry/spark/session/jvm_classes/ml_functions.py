"""Sessions without the functions of Spark ML, until these are asked for.

Spark registers them, such as `vector_to_array`, with every new session. The types of their arguments take Scala's
reflection, which costs a quarter of a session's start. `WithoutMlFunctions.java` hides them from a new session; they
are registered when a program imports `pyspark.ml`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any

_PACKAGE = "pyspark.ml"
_CLASS = "WithoutMlFunctions"


def create_session(builder: Any) -> Any:
    """Return the session of a builder; without the functions of Spark ML if it is new and nothing has imported that.

    Args:
        builder: Spark's session builder, with all settings.
    """
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    if _PACKAGE in sys.modules or SparkSession._instantiatedSession is not None:
        return builder.getOrCreate()
    # first the context, whose threads are to have the usual class loader
    context = SparkContext.getOrCreate(SparkConf().setAll(list(builder._options.items())))
    with _hidden(context) as are_hidden:
        session = builder.getOrCreate()
    if are_hidden:
        sys.meta_path.insert(0, _OnImport(session))
    return session


@contextmanager
def _hidden(context: Any) -> Iterator[bool]:
    """Let this thread not see the functions in the JVM; yield whether it has not."""
    from py4j.clientserver import ClientServer

    jvm = context._jvm
    # else a call may take any thread of the JVM
    loader = _loader(jvm) if isinstance(context._gateway, ClientServer) else None
    if loader is None:
        yield False
        return
    thread = jvm.java.lang.Thread.currentThread()
    usual = thread.getContextClassLoader()
    thread.setContextClassLoader(loader)
    try:
        yield True
    finally:
        thread.setContextClassLoader(usual)


def _loader(jvm: Any) -> Any:
    """Return the class loader that hides the functions; None if the JVM has been started without its class."""
    from py4j.protocol import Py4JJavaError

    try:
        found = jvm.java.lang.ClassLoader.getSystemClassLoader().loadClass(_CLASS)
    except Py4JJavaError:
        return None
    return found.getDeclaredConstructor(None).newInstance(None)


class _OnImport(MetaPathFinder):
    """Finds nothing, but registers the functions when `pyspark.ml` is looked for."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        """Register the functions."""
        if name == _PACKAGE and self in sys.meta_path:
            sys.meta_path.remove(self)
            _register(self._session)


def _register(session: Any) -> None:
    """Register the functions with a session, with those that share its context, and with those that will."""
    java = session._jsparkSession
    extensions = java.extensions()
    session._jvm.org.apache.spark.sql.ml.InternalFunctionRegistration().apply(extensions)
    extensions.registerFunctions(java.sessionState().functionRegistry())
