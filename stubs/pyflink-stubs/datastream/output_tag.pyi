from scurry.datastream.output_tag import *
from scurry.common.typeinfo import RowTypeInfo as RowTypeInfo
from scurry.common.typeinfo import TypeInformation as TypeInformation
from scurry.common.typeinfo import Types as Types
