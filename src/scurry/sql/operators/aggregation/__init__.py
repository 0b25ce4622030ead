"""Incremental aggregation over columns: for groups, windows and OVER.

The contract of an aggregate, and its properties, are in `scurry.sql.functions.aggregate.definition`. Here are values of
aggregates after each row (`running`, `columnar`), rows divided by group (`segments`), sets of distinct arguments
(`distinct`), the output of a local phase (`partial`), and state in pieces (`pieces`).
"""
