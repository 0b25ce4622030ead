"""Make the data of the tutorials: a made-up morning of taxis, flights and clicks, in the layout of real data sets.

- `trips.csv`: New York's taxi records: pick-up, drop-off, zone of each, miles, fare, tip. In the order of drop-offs.
- `zones.csv`: their zones: number, borough, name.
- `flights.csv`: the on-time records of the Bureau of Transportation Statistics: scheduled departure, carrier, tail
  number, origin, destination, minutes of delay at departure and at arrival. In the order of the arrivals.
- `clicks.jsonl`: clicks of a web shop, in the order in which they arrive; phones send some of them late.

The rows are the same in each run. `python examples/data/make.py`
"""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
MORNING = datetime(2026, 3, 2, 6)
ZONES = [
    (43, "Manhattan", "Central Park"),
    (79, "Manhattan", "East Village"),
    (132, "Queens", "JFK Airport"),
    (138, "Queens", "LaGuardia Airport"),
    (161, "Manhattan", "Midtown Center"),
    (230, "Manhattan", "Times Sq"),
    (237, "Manhattan", "Upper East Side South"),
    (255, "Brooklyn", "Williamsburg"),
]


def trips(random: Random) -> list[str]:
    """Return 240 trips between 6:00 and 10:00."""
    rows = []
    for _ in range(240):
        start = MORNING + timedelta(seconds=int(240 * 60 * random.betavariate(2, 1.6)))
        origin, destination = random.choices([zone[0] for zone in ZONES], [2, 3, 3, 3, 5, 5, 5, 2], k=2)
        far = {origin, destination} & {132, 138} and origin != destination
        minutes = random.randint(22, 48) if far else random.randint(4, 19)
        miles = round(minutes * random.uniform(0.15, 0.4), 1)
        fare = round(4 + 2.5 * miles + 0.3 * minutes, 1)
        tip = round(fare * random.choice((0, 0, 0.1, 0.15, 0.2, 0.25)), 2)
        end = start + timedelta(minutes=minutes)
        rows.append((end, f"{start},{end},{origin},{destination},{miles},{fare:.2f},{tip:.2f}"))
    return [row for _, row in sorted(rows)]


def flights(random: Random) -> list[str]:
    """Return the flights of 24 aircraft, each with four legs; a delay at departure is partly made up in the air."""
    rows = []
    airports = ["ATL", "BOS", "DEN", "JFK", "LAX", "ORD", "SEA"]
    for number in range(24):
        carrier = ("AA", "DL", "UA", "WN")[number % 4]
        at, place, late = MORNING + timedelta(minutes=5 * random.randint(0, 12)), random.choice(airports), 0
        for _ in range(4):
            to = random.choice([airport for airport in airports if airport != place])
            minutes = 5 * random.randint(14, 40)
            departed = max(0, late - 10) + random.choice((0, 0, 0, 0, 3, 6, 15, 42 if place == "ORD" else 5))
            arrived = departed + random.randint(-14, 6)
            end = at + timedelta(minutes=minutes + arrived)
            rows.append((end, f"{at},{carrier},N{100 + number},{place},{to},{departed},{arrived}"))
            at, place, late = at + timedelta(minutes=minutes + 45), to, max(0, arrived)
    return [row for _, row in sorted(rows)]


def clicks(random: Random) -> list[str]:
    """Return the clicks of 40 visits; a tenth of them arrives up to two minutes late."""
    rows = []
    for _ in range(40):
        user, at = f"u{random.randint(1, 15):02}", MORNING + timedelta(seconds=random.randint(0, 7200))
        pages = ["/", random.choice(("/tea", "/cup", "/pot"))]
        if random.random() < 0.7:
            pages += ["/cart"] + (["/pay"] if random.random() < 0.6 else [])
        for page in pages:
            arrived = at + timedelta(seconds=random.randint(20, 110) if random.random() < 0.1 else 0)
            rows.append((arrived, json.dumps({"ts": str(at), "user_name": user, "page": page})))
            at += timedelta(seconds=random.randint(5, 90))
    return [row for _, row in sorted(rows)]


def files() -> dict[str, str]:
    """Return the name of each file -> its text."""
    random = Random(20260302)
    made = {"trips.csv": trips(random), "flights.csv": flights(random), "clicks.jsonl": clicks(random)}
    made["zones.csv"] = [",".join(map(str, zone)) for zone in ZONES]
    return {name: "\n".join(rows) + "\n" for name, rows in made.items()}


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
