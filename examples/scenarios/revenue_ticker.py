"""A revenue ticker with early results and retractions: each change of a total takes the earlier one back.

Prints:

    +I tea 3
    +I cake 4
    -U tea 3
    +U tea 8
    -U tea 8
"""

from __future__ import annotations

from scurry.table import Schema
from scurry.testing import TableTestHarness

ORDERS = Schema.new_builder().column("item", "STRING").column("price", "INT").build()
TICKER = "SELECT item, SUM(price) AS revenue FROM orders GROUP BY item HAVING SUM(price) < 10"

with TableTestHarness.of(TICKER, {"orders": ORDERS}) as harness:
    for item, price in [("tea", 3), ("cake", 4), ("tea", 5), ("tea", 7)]:
        harness.insert("orders", item, price)
    for kind, row in harness.changes():
        print(kind, *row)
