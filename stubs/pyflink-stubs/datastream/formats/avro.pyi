from scurry.datastream.formats.avro import *
from scurry.common.io import InputFormat as InputFormat
from scurry.common.serialization import BulkWriterFactory as BulkWriterFactory
