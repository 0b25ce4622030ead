from scurry.testing import *
