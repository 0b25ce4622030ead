"""What is behind the methods of `Table`: each makes a query of SQL's syntax, which the one validator makes a plan of.

fields       expressions as columns of a SELECT
columns      columns added, replaced, renamed and dropped
rows         filters, orders and limits
combining    joins and set operations
windows      windows over groups and over rows
"""
