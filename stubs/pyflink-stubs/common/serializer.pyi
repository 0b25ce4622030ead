from scurry.common.serializer import *
