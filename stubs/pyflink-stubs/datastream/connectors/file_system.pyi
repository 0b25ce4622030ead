from scurry.datastream.connectors.file_system import *
from scurry.common.time import Duration as Duration
from scurry.datastream.connectors.base import Sink as Sink
from scurry.datastream.connectors.base import Source as Source
