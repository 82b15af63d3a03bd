"""Queues of documents to judge, read back."""

from __future__ import annotations

from karatage.data.entries import Entries
from karatage.data.from_json import read_table
from karatage.data.prices import JudgingPrices, parse_money
from karatage.data.queue import JudgingQueue
from karatage.io.results import settling


def read(entries: Entries) -> JudgingQueue:
    """What `JudgingQueue.to_dict` says."""
    judged, prices = entries.object("judged"), entries.object("prices")
    return JudgingQueue(
        order=entries.text("order"),
        approach=entries.text("approach"),
        depth=entries.whole("depth"),
        pool=entries.whole("pool"),
        by_experts=judged.whole("experts"),
        by_crowd=judged.whole("crowd"),
        items=read_table(entries, "items"),
        batch=entries.whole("batch"),
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
