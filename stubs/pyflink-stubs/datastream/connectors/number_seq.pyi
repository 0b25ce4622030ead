from scurry.datastream.connectors.number_seq import *
from scurry.datastream.connectors.base import Source as Source
