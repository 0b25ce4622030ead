"""The type variables of the API's generic classes, named as Flink names them.

Each is `Any` where a program leaves it out: `DataStream` means `DataStream[Any]`, and `class F(MapFunction)` needs no
type arguments, as in PyFlink.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    #: Input of a function: one that accepts any object can stand in for one that accepts int.
    IN = TypeVar("IN", contravariant=True, default=Any)
    IN1 = TypeVar("IN1", contravariant=True, default=Any)
    IN2 = TypeVar("IN2", contravariant=True, default=Any)
    KEY = TypeVar("KEY", contravariant=True, default=Any)
    WINDOW = TypeVar("WINDOW", contravariant=True, default=Any)
    #: Result of a function, and the records of streams.
    OUT = TypeVar("OUT", covariant=True, default=Any)
    T_co = TypeVar("T_co", covariant=True, default=Any)
    T1_co = TypeVar("T1_co", covariant=True, default=Any)
    T2_co = TypeVar("T2_co", covariant=True, default=Any)
    K_co = TypeVar("K_co", covariant=True, default=Any)
    W_co = TypeVar("W_co", covariant=True, default=Any)
    #: Whatever is both taken and returned.
    T = TypeVar("T", default=Any)
    T1 = TypeVar("T1", default=Any)
    T2 = TypeVar("T2", default=Any)
    R = TypeVar("R", default=Any)
    K = TypeVar("K", default=Any)
    V = TypeVar("V", default=Any)
    W = TypeVar("W", default=Any)
    ACC = TypeVar("ACC", default=Any)
else:  # Defaults are in `typing` from Python 3.13 on only, and typing_extensions takes long to import.
    from typing import TypeVar

    IN = TypeVar("IN", contravariant=True)
    IN1 = TypeVar("IN1", contravariant=True)
    IN2 = TypeVar("IN2", contravariant=True)
    KEY = TypeVar("KEY", contravariant=True)
    WINDOW = TypeVar("WINDOW", contravariant=True)
    OUT = TypeVar("OUT", covariant=True)
    T_co = TypeVar("T_co", covariant=True)
    T1_co = TypeVar("T1_co", covariant=True)
    T2_co = TypeVar("T2_co", covariant=True)
    K_co = TypeVar("K_co", covariant=True)
    W_co = TypeVar("W_co", covariant=True)
    T = TypeVar("T")
    T1 = TypeVar("T1")
    T2 = TypeVar("T2")
    R = TypeVar("R")
    K = TypeVar("K")
    V = TypeVar("V")
    W = TypeVar("W")
    ACC = TypeVar("ACC")
