"""The implementation of `table.expression`: the methods of `Expression` by subject.

syntax       values and calls as syntax trees, with their place in the program
base         what every expression has, and how new ones are made of it
operators    Python's operators, conditions, types, names and order
numbers, texts, times, collections, json
             functions by what they are applied to
aggregates   functions of the rows of a group
"""
