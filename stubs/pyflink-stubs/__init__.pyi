from scurry import *
from scurry import __version__ as __version__
