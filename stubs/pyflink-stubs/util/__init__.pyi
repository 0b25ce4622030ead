from scurry.common._pyflink.util import *
