from scurry.util import *
