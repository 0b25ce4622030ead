from scurry.datastream.state import *
from scurry.common.time import Duration as Duration
from scurry.common.time import Time as Time
from scurry.common.typeinfo import TypeInformation as TypeInformation
