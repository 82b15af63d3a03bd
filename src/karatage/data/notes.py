"""The texts of notes on runs, judgments and how they fit together."""

from karatage.data.note import Texts

tell = Texts(
    "data",
    {
        "lacking-topics": "systems that lack topics which others have, scored 0 there: {systems:names}",
        "last-kept": "of a person's repeated grades only the last is kept in a pseudo-judge",
        "nothing-judged": "no retrieved document was judged: check that document ids are written alike in both",
        "pseudo-judges": "{people:,} people put together as {judges:count pseudo-judge}; of {pairs:,} (person, topic) "
        "pairs {split:,} had to be split among several",
        "repeats-all": "{pairs:,} (judge, item) pairs were graded more than once; all grades are kept",
        "repeats-one": "{pairs:,} (judge, item) pairs were graded more than once; kept the {kept} grade of each, set "
        "{dropped:,} grades aside",
        "repeats-vote": "{judges:count judge} graded items more than once, up to {most:,} times: in merging each grade "
        "is a vote, elsewhere the last of each counts and {aside:,} are set aside; --repeats last gives a judge one "
        "vote",
        "scales-differ": "judges grade up to {judges}, gold up to {gold}{beyond}: if scales differ, map them first",
        "scales-short": "judges who never use the upper grades ({counts}): if their scales differ, map them first",
        "single-precision": "{pairs:,} neighbours in rankings differ only beyond single precision; ordered by document "
        "id, as trec_eval does",
        "these-topics": "about these topics, and what more judging could show; other topics may order systems "
        "otherwise",
        "topics-ignored": "topics of the runs without judgments, ignored: {topics:names}",
        "topics-in-no-run": "judged topics in no run: {topics:names}",
    },
)
