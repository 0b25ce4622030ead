"""Models in Python: descriptors, and the methods of environments and catalogs; PyFlink 2.3 gave the same answers."""

from __future__ import annotations

from typing import Any

import pytest

from scurry.errors import CatalogError, ModelAlreadyExistError, ModelNotExistError, ValidationError
from scurry.table import DataTypes, EnvironmentSettings, ModelDescriptor, Schema, TableEnvironment
from scurry.table.catalog import CatalogModel, ObjectPath


def schema(name: str, data_type: Any = None) -> Schema:
    return Schema.new_builder().column(name, data_type or DataTypes.STRING()).build()


DESCRIBED = (
    ModelDescriptor.for_provider("openai")
    .input_schema(schema("a"))
    .output_schema(schema("b"))
    .option("api-key", "sek")
    .option("model", "x")
    .comment("hello")
    .build()
)


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def test_a_description_has_its_parts() -> None:
    assert DESCRIBED.get_options() == {"model": "x", "provider": "openai", "api-key": "sek"}
    assert (DESCRIBED.get_input_schema(), DESCRIBED.get_output_schema()) == (schema("a"), schema("b"))
    assert DESCRIBED.get_comment() == "hello"


def test_its_text_is_flinks_without_secrets() -> None:
    assert str(DESCRIBED) == (
        "(\n  `a` STRING\n)\n(\n  `b` STRING\n)\nCOMMENT 'hello'\n"
        "WITH (\n  'api-key' = '******',\n  'provider' = 'openai',\n  'model' = 'x'\n)"
    )
    assert str(ModelDescriptor.for_provider("x").build()) == "\n\nCOMMENT ''\nWITH (\n  'provider' = 'x'\n)"


def test_descriptions_are_compared_by_their_parts() -> None:
    other = ModelDescriptor.for_provider("x").build()
    assert other != DESCRIBED and other == ModelDescriptor.for_provider("x").build()
    assert hash(other) == hash(ModelDescriptor.for_provider("x").build())
    assert (other.get_input_schema(), other.get_comment()) == (None, None)


def test_models_are_created_listed_and_dropped(env: TableEnvironment) -> None:
    env.create_model("m", DESCRIBED)
    env.create_model("m", DESCRIBED, True)
    env.create_temporary_model("tm", DESCRIBED)
    env.create_temporary_model("tm", DESCRIBED, True)
    assert (env.list_models(), env.list_temporary_models()) == (["m"], ["tm"])
    assert [env.drop_model("m"), env.drop_model("m")] == [True, False]
    assert [env.drop_temporary_model("tm"), env.drop_temporary_model("tm")] == [True, False]


def test_what_is_wrong_is_refused_in_flinks_words(env: TableEnvironment) -> None:
    env.create_model("m", DESCRIBED)
    env.create_temporary_model("tm", DESCRIBED)
    with pytest.raises(ModelAlreadyExistError, match=r"Model default_database\.m already exists in Catalog default_c"):
        env.create_model("m", DESCRIBED)
    with pytest.raises(ValidationError, match="Temporary model '`default_catalog`.`default_database`.`tm`' already"):
        env.create_temporary_model("tm", DESCRIBED)
    with pytest.raises(ValidationError, match="Input schema missing in ModelDescriptor. Input schema cannot be null."):
        env.create_model("n", ModelDescriptor.for_provider("x").build())
    with pytest.raises(ValidationError, match="Output schema missing in ModelDescriptor. Output schema cannot be nul"):
        env.create_model("n", ModelDescriptor.for_provider("x").input_schema(schema("a")).build())
    with pytest.raises(ValidationError, match="Model with identifier 'default_catalog.default_database.nope' does not"):
        env.drop_model("nope", False)
    with pytest.raises(ValidationError, match="was not found"):
        env.from_model("mm")
    with pytest.raises(CatalogError):
        env.create_model("nodb.m", DESCRIBED)


def test_a_catalog_keeps_models(env: TableEnvironment) -> None:
    catalog = env.get_catalog("default_catalog")
    assert catalog is not None
    path, other = ObjectPath("default_database", "k"), ObjectPath("default_database", "k2")
    catalog.create_model(path, CatalogModel.create_model(schema("a"), schema("b"), {"provider": "x"}, "com"), False)
    catalog.create_model(path, CatalogModel.create_model(schema("a"), schema("b")), True)
    assert (catalog.list_models("default_database"), catalog.model_exists(path)) == (["k"], True)
    found = catalog.get_model(path).copy()
    assert (found.get_options(), found.get_comment()) == ({"provider": "x"}, "com")
    catalog.alter_model(path, CatalogModel.create_model(schema("a"), schema("b"), {"provider": "y"}), False)
    assert catalog.get_model(path).get_options() == {"provider": "y"}
    catalog.rename_model(path, "k2", False)
    catalog.rename_model(path, "k2", True)
    catalog.drop_model(path, True)
    assert catalog.list_models("default_database") == ["k2"]
    catalog.drop_model(other, False)
    assert not catalog.model_exists(other)


@pytest.mark.parametrize(
    "change",
    [
        lambda catalog, path: catalog.drop_model(path, False),
        lambda catalog, path: catalog.rename_model(path, "n", False),
        lambda catalog, path: catalog.alter_model(path, CatalogModel.create_model(schema("a"), schema("b")), False),
        lambda catalog, path: catalog.get_model(path),
    ],
)
def test_a_catalog_without_the_model_says_so(env: TableEnvironment, change: Any) -> None:
    with pytest.raises(ModelNotExistError, match="Model '`default_catalog`.`default_database`.`m`' does not exist"):
        change(env.get_catalog("default_catalog"), ObjectPath("default_database", "m"))


def test_columns_of_models_are_physical() -> None:
    computed = Schema.new_builder().column("a", DataTypes.INT()).column_by_expression("b", "a + 1").build()
    with pytest.raises(ValidationError, match="can only be a physical column"):
        CatalogModel.create_model(computed, schema("c"))
