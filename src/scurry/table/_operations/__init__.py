"""The operations of `Table`: each makes a SQL query, which the one validator plans.

fields       expressions as columns of a SELECT
columns      columns added, replaced, renamed and dropped
rows         filters, orders and limits
combining    joins and set operations
windows      windows over groups and over rows
"""
