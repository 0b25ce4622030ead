from scurry.datastream.async_data_stream import *
from scurry.common.time import Time as Time
from scurry.common.typeinfo import TypeInformation as TypeInformation
