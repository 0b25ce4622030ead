"""A load as that of pgbench: small transactions on tables that are captured, so many in a second."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import Self

from support.cdc.databases import MariaDbShop, PostgresShop


def customers_of(rows: int) -> int:
    """Return how many customers share so many orders: one who changes changes a hundred joined rows at most."""
    return max(50, rows // 100)


class Load:
    """Changes of the tables `orders` and `customers`, until the block ends.

    Attributes:
        changes: How many transactions there were.
    """

    def __init__(self, shop: PostgresShop | MariaDbShop, rows: int, seed: int, per_second: float) -> None:
        self.changes = 0
        self._shop = shop.again()
        self._rows, self._chance, self._seconds = rows, random.Random(seed), 1 / per_second
        self._customers = customers_of(rows)
        self._ended, self._turn = threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self._shop.close()

    def interrupted(self, work: Callable[[], None]) -> None:
        """Do something between two changes, after which the server is another process."""
        with self._turn:
            work()
            self._shop.reconnect()

    def _write(self) -> None:
        due = time.monotonic()
        while not self._ended.wait(max(0, due - time.monotonic())):
            due = max(due + self._seconds, time.monotonic() - 1)  # it makes up for a second
            with self._turn:
                self._shop.run(self._change())
            self.changes += 1

    def _change(self) -> str:
        chance = self._chance
        id, amount = chance.randrange(self._rows * 2), chance.randrange(1000)
        customer = chance.randrange(self._customers)
        ignore = self._shop.dialect == "mysql"
        insert = f"INSERT {'IGNORE ' * ignore}INTO orders VALUES ({id}, {customer}, {amount})"
        return chance.choice(
            [
                insert if ignore else f"{insert} ON CONFLICT (id) DO NOTHING",
                f"UPDATE orders SET amount = {amount}, customer = {customer} WHERE id = {id % self._rows}",
                f"DELETE FROM orders WHERE id = {id}",
                f"UPDATE customers SET name = 'c{amount}' WHERE id = {customer}"
                if chance.random() < 0.02
                else f"UPDATE orders SET amount = amount + 1 WHERE id = {id}",
            ]
        )
