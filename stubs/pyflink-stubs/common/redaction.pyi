from scurry.common.redaction import *
