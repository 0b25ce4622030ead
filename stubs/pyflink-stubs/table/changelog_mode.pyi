from scurry.table.changelog_mode import *
