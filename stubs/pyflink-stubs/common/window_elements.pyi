from scurry.common.window_elements import *
