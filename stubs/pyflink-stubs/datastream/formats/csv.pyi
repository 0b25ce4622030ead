from scurry.datastream.formats.csv import *
from scurry.common.serialization import DeserializationSchema as DeserializationSchema
from scurry.common.serialization import SerializationSchema as SerializationSchema
from scurry.common.typeinfo import TypeInformation as TypeInformation
from scurry.datastream.connectors.file_system import StreamFormat as StreamFormat
