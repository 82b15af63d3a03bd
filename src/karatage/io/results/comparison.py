"""Comparisons of two systems, read back."""

from __future__ import annotations

import math

from karatage.data.comparison import Comparison, Opinion
from karatage.data.entries import Entries
from karatage.io.results.methods import read_method
from karatage.io.results.parts import read_accuracy, read_estimate


def read(entries: Entries) -> Comparison:
    """What `Comparison.to_dict` says."""
    corrected = entries.object_or_none("corrected")
    return Comparison(
        measure=entries.text("measure"),
        a=entries.text("a"),
        b=entries.text("b"),
        approach=entries.text("approach"),
        claim=entries.text("claim"),
        topics=entries.whole("topics"),
        naive=_read_opinion(entries.object("naive")),
        corrected=None if corrected is None else _read_opinion(corrected),
        others=tuple(map(_read_opinion, entries.objects("others"))),
        refusal=entries.text_or_none("refusal"),
        same=entries.text_or_none("same"),
        gold=entries.text_or_none("gold"),
        accuracy=read_accuracy(entries),
        alarm=entries.text_or_none("alarm"),
        needed=entries.text_or_none("needed"),
        assumed=entries.texts("assumed"),
        seed=entries.whole("seed"),
        versions=entries.object("versions").all_texts(),
        notes=entries.texts("notes"),
    )


def _read_opinion(entries: Entries) -> Opinion:
    a, b, difference = entries.object_or_none("a"), entries.object_or_none("b"), entries.object("difference")
    p_value, by_interval = entries.real("p_value"), difference.real("p_value")
    same = p_value == by_interval or (math.isnan(p_value) and math.isnan(by_interval))
    return Opinion(
        method=read_method(entries, "way"),
        a=None if a is None else read_estimate(a),
        b=None if b is None else read_estimate(b),
        difference=read_estimate(difference),
        test_p_value=None if same else p_value,
    )
