from __future__ import annotations

import inspect

from scurry import errors


def test_every_error_is_in_the_drawn_tree_and_also_a_builtin() -> None:
    classes = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if cls.__module__ == "scurry.errors"]
    for cls in classes:
        assert issubclass(cls, errors.ScurryError)
        assert cls.__name__ in (errors.__doc__ or "")
        assert cls.__name__ in errors.__all__
        if cls is not errors.ScurryError:
            assert any(base.__module__ == "builtins" and base is not Exception for base in cls.__mro__[:-3])


def test_key_errors_show_their_message_plainly() -> None:
    assert str(errors.UnknownConfigError("a is unknown")) == "a is unknown"
    assert str(errors.RowFieldError("no field")) == "no field"
