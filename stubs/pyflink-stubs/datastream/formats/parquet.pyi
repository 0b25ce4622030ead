from scurry.datastream.formats.parquet import *
from scurry.datastream.connectors.file_system import BulkFormat as BulkFormat
