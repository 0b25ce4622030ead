from scurry.common.input_dependency_constraint import *
