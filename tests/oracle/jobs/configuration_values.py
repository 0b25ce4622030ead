"""Configuration: typed getters, defaults, copies, dictionaries and removal."""

from __future__ import annotations

from pyflink.common import Configuration

configuration = Configuration()
configuration.set_string("s", "text").set_integer("i", 5).set_boolean("b", True).set_float("f", 1.5)
print(
    configuration.get_string("s", "no"),
    configuration.get_integer("i", 0),
    configuration.get_boolean("b", False),
    configuration.get_float("f", 0.0),
    configuration.get_string("none", "default"),
    configuration.get_integer("none", 9),
)
copy = Configuration(configuration)
copy.set_string("only", "copy")
print(sorted(configuration.key_set()), sorted(copy.key_set()), configuration.contains_key("only"))
print(copy.remove_config("s"), copy.contains_key("s"), copy.remove_config("s"))
print(sorted(configuration.to_dict().items()), configuration == Configuration(configuration))
print(Configuration.from_dict({"x": "1"}).get_integer("x", 0), configuration.get_string("i", ""))
