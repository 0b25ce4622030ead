"""EnvironmentSettings: how a TableEnvironment is created."""

from __future__ import annotations

from scurry.common._api import ApiObject
from scurry.common._removed import ENVIRONMENT_SETTINGS
from scurry.common.configuration import Configuration

__all__ = ["EnvironmentSettings"]

_CATALOG = "table.builtin-catalog-name"
_DATABASE = "table.builtin-database-name"
_MODE = "execution.runtime-mode"


class EnvironmentSettings(ApiObject):
    """Mode, names of the built-in catalog and database, and further settings."""

    class Builder(ApiObject):
        """Builds settings."""

        _instead = ENVIRONMENT_SETTINGS

        def __init__(self) -> None:
            """Begin with STREAMING."""
            self._configuration = Configuration()

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            """Add settings."""
            self._configuration.add_all(config)
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Run queries in BATCH."""
            self._configuration.set_string(_MODE, "BATCH")
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Run queries in STREAMING."""
            self._configuration.set_string(_MODE, "STREAMING")
            return self

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Name the catalog that there is from the start."""
            self._configuration.set_string(_CATALOG, built_in_catalog_name)
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Name the database that there is from the start."""
            self._configuration.set_string(_DATABASE, built_in_database_name)
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            return EnvironmentSettings(self._configuration)

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = Configuration(configuration)

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the catalog that there is from the start."""
        return self._configuration.get_string(_CATALOG, "default_catalog")

    def get_built_in_database_name(self) -> str:
        """Return the name of the database that there is from the start."""
        return self._configuration.get_string(_DATABASE, "default_database")

    def is_streaming_mode(self) -> bool:
        """Return whether queries run in STREAMING."""
        return self._configuration.get_string(_MODE, "STREAMING").upper() != "BATCH"

    def get_configuration(self) -> Configuration:
        """Return all settings."""
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return settings for STREAMING."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return settings for BATCH."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()
