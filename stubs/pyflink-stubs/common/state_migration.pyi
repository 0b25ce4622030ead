from scurry.common.state_migration import *
