from scurry.util.exceptions import *
