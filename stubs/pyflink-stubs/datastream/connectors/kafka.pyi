from scurry.datastream.connectors.kafka import *
from scurry.common.typeinfo import TypeInformation as TypeInformation
from scurry.common.typeinfo import Types as Types
from scurry.common.types import Row as Row
from scurry.datastream.connectors.base import Sink as Sink
from scurry.datastream.connectors.base import Source as Source
from scurry.datastream.functions import SinkFunction as SinkFunction
from scurry.datastream.functions import SourceFunction as SourceFunction
