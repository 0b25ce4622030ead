"""State evolution: state of an earlier program becomes state of the present one.

`values` compares types and converts values, `classes` and `class_changes` do so for the dataclasses in them. `operator`
converts the stored entries of an operator, `job` those of all operators. What programs declare about it is in
`scurry.common.state_migration`.
"""
