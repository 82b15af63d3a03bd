"""The texts of notes on what was read."""

from karatage.data.note import Texts

tell = Texts(
    "io",
    {
        "dropped": "{judgments:,} judgments were left out by the grade mapping",
        "experts-open": "{documents:count document} that went to experts have no grade yet",
        "fractions": "{fractions:,} of {grades:,} grades are fractions, rounded to the nearest whole number (halves "
        "up); judges concerned: {judges:names}",
        "no-times": "{source} does not say when grades were given, so of repeated ones the order of rows decides",
    },
)
