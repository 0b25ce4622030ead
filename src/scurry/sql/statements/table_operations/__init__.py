"""The methods of tables as SQL queries, which the one validator checks and plans.

operation    the tables, functions and columns of one operation
columns      what stands for several columns: `*`, `with_columns`, ranges
naming       names of the columns that an operation makes
summary      expressions as Flink's messages write them
sql_text     expressions as SQL, which schemas keep
failures     what is wrong with an expression, in the words of Flink's Table API
"""

from __future__ import annotations

from scurry.sql.statements.table_operations.naming import Names
from scurry.sql.statements.table_operations.operation import Operation

__all__ = ["Names", "Operation"]
