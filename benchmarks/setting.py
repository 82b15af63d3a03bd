"""What contenders work on, handed to their processes as a small JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

SEED = 8


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large the tasks are; defaults are the issue's, on a collection the size of T08."""

    systems: int = 129
    topics: int = 10
    depth: int = 1000
    pool: int = 1826
    noisy_copies: int = 31
    sets_per_class: int = 1000
    reference_rankings: int = 31
    rankings: int = 3000
    rival_rankings: int = 60
    judges: int = 200
    items: int = 50_000
    crowd_few: int = 10_000
    crowd_some: int = 100_000
    crowd_many: int = 1_000_000
    crowd_most: int = 100_000_000
    crowd_judges: int = 2_000
    most_judges: int = 20_000
    steps: int = 100
    few_steps: int = 20
    queue_items: int = 100_000


QUICK = Size(
    systems=12,
    topics=4,
    depth=100,
    pool=200,
    noisy_copies=3,
    sets_per_class=20,
    reference_rankings=3,
    rankings=50,
    rival_rankings=10,
    judges=10,
    items=1000,
    crowd_few=500,
    crowd_some=1000,
    crowd_many=2000,
    crowd_most=5000,
    crowd_judges=20,
    most_judges=50,
    steps=10,
    few_steps=5,
    queue_items=1000,
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A prepared folder: runs and gold of a collection, sampled judgment sets, a table of judgments."""

    size: Size
    runs: str
    gold: str
    sets: str  # folder of qrels files, each called by the number of its set
    table: str  # many judgments, Parquet
    table_runs: str  # what systems retrieved for that table's topics, Parquet

    def save(self, path: Path) -> None:
        """Write it down."""
        path.write_text(json.dumps(asdict(self)))

    @staticmethod
    def load(path: str) -> Setting:
        """Read it back."""
        fields = json.loads(Path(path).read_text())
        return Setting(**{**fields, "size": Size(**fields["size"])})

    def set_files(self) -> list[Path]:
        """The sampled judgment sets, which every library scores."""
        return sorted(Path(self.sets).glob("*.qrels"), key=lambda path: int(path.stem))

    def run_files(self) -> list[Path]:
        """One run file per system, called by its tag."""
        return sorted(Path(self.runs).glob("*.gz"))
