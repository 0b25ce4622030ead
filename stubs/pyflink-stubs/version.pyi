from scurry.pyflink_version import *
from scurry.pyflink_version import __version__ as __version__
