from scurry.common.typeinfo import *
