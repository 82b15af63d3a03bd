"""Queues of documents to judge, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.prices import JudgingPrices, parse_money
from karatage.data.queue import JudgingQueue
from karatage.errors import DataError
from karatage.io.results import settling

_ITEMS = {"topic": "text", "document": "text", "to": "text", "judgments": "int32", "priority": "int32", "pi": "float"}


def read(entries: Entries) -> JudgingQueue:
    """What `JudgingQueue.to_dict` says."""
    judged, prices = entries.object("judged"), entries.object("prices")
    items = read_table(entries, "items", _ITEMS)
    if "cost" not in items.columns or not items["cost"].dtype.is_decimal():
        raise DataError("types.items.cost is not an amount of money")
    return JudgingQueue(
        order=entries.text("order"),
        approach=entries.text("approach"),
        depth=entries.whole("depth"),
        pool=entries.whole("pool"),
        by_experts=judged.whole("experts"),
        by_crowd=judged.whole("crowd"),
        items=items,
        batch=entries.whole("batch", 1),
        frame=entries.text_or_none("frame"),
        prices=JudgingPrices(
            expert=parse_money(prices.text("expert"), "the price of an expert judgment"),
            label=parse_money(prices.text("label"), "the price of a crowd label"),
            judgments=prices.whole("judgments", 1),
        ),
        budget=parse_money(entries.text("budget"), "the budget"),
        settling=settling.read(entries.object("settling")),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )
