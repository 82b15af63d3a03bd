"""The texts of notes on planned sample sizes."""

from karatage.data.note import Texts

tell = Texts(
    "correction",
    {
        "faultless": "judges made no mistake on one kind of gold item, for which the formulas ask no gold: check some",
        "few-gold": "rates from fewer than {least} gold items of a kind are uncertain: check more",
        "few-topics": "formulas are for {least} topics and more: take at least so many",
        "no-power": "no power asked for: a true difference of this size would show half the time; 0.8 is usual",
    },
)
