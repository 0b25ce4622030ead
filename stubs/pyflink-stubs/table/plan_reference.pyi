from scurry.table.plan_reference import *
