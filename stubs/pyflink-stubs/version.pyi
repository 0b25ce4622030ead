from scurry.common._pyflink.version import *
from scurry.common._pyflink.version import __version__ as __version__
