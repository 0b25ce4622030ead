from scurry.common._pyflink.util.exceptions import *
