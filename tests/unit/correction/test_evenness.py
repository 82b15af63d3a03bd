"""Even samples pass and others are caught, with p-values against enumeration and scipy, and on real systems' frames."""

import re
import tracemalloc
from collections import defaultdict
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import karatage as kt
from karatage.correction import evenness
from karatage.correction.evenness import CHANCE, COMPARED, Frame, check_evenness
from karatage.correction.sampled import choose_sizes, draw_batches
from karatage.data.alignment import align
from karatage.data.judgments import match_gold
from karatage.errors import DataError
from karatage.measures.registry import as_weighted_sum, parse_measure
from tests.notes import gives


def make(rank, topic=None, said=None, depth=10):
    rank = np.asarray(rank, np.int16)
    topic = np.zeros(len(rank), np.int64) if topic is None else np.array(topic)
    said = np.zeros(len(rank), np.int8) if said is None else np.array(said, np.int8)
    topics = tuple(f"q{t}" for t in range(int(topic.max()) + 1))
    systems = tuple(f"s{s}" for s in range(rank.shape[1]))
    gap = np.r_[0.0, 1 / np.log2(np.arange(2, depth + 2))][rank.clip(0, depth)].std(axis=1)
    return Frame(topic=topic, said=said, rank=rank, gap=gap, depth=depth, topics=topics, systems=systems)


def make_random(items, systems=3, seed=0):
    source = np.random.default_rng(seed)
    rank = np.where(source.random((items, systems)) < 0.5, source.integers(1, 11, (items, systems)), 0)
    return make(rank, source.integers(0, 20, items), source.integers(-1, 4, items))


def mark(items, chosen):
    marked = np.zeros(items, bool)
    marked[chosen] = True
    return marked


def take(allowed, count, seed=0):
    """So many of the allowed items at random."""
    return mark(len(allowed), np.random.default_rng(seed).choice(np.flatnonzero(allowed), count, replace=False))


def take_counts(group, drawn):
    """The first items of each group, so many of each."""
    return mark(len(group), np.concatenate([np.flatnonzero(group == g)[:count] for g, count in enumerate(drawn)]))


def enumerate_p(size, drawn, score=None):
    """The chance of what is no less extreme, over all that could have been drawn of groups of such a size."""
    size, drawn = np.array(size), np.array(drawn)
    every = np.array([row for row in product(*(range(s + 1) for s in size)) if sum(row) == drawn.sum()])
    chance = stats.multivariate_hypergeom.pmf(every, size, drawn.sum())
    assert chance.sum() == pytest.approx(1)

    def measure(row):
        if score is not None:
            return abs(row @ score / row.sum() - size @ score / size.sum())
        return stats.chi2_contingency(np.stack([row, size - row]), correction=False).statistic

    statistic = np.array([measure(row) for row in every])
    return chance[statistic >= measure(drawn) * (1 - 1e-9)].sum()


def tails(items, size, taken, count):
    law = stats.hypergeom(items, size, taken)
    return min(2 * min(law.cdf(count), law.sf(count - 1)), 1.0)


@pytest.fixture
def many_draws(monkeypatch):
    monkeypatch.setattr(evenness, "DRAWS", 100_000)
    monkeypatch.setattr(evenness, "ENOUGH", 10**9)


def check_p_values(found, **right):
    """Those not named are 1; adjusted by statsmodels."""
    raw = [right.get(by.replace("judges' ", "").replace(" ", "_"), 1.0) for by in COMPARED]
    adjusted = multipletests(raw, method="holm")[1]
    noise = 4 * np.sqrt(np.array(raw) / 100_000) + 1e-5
    np.testing.assert_array_less(np.abs(adjusted - [found.p_values[by] for by in COMPARED]), 6 * noise)


@pytest.mark.parametrize("drawn", [(6, 3, 2, 1), (5, 5, 1, 1), (6, 4, 2, 0), (6, 6, 0, 0)])
def test_topics_against_enumeration(many_draws, drawn):
    topic = np.repeat(np.arange(4), 6)
    found = check_evenness(make(np.ones((24, 2)), topic), take_counts(topic, drawn))
    check_p_values(found, topic=enumerate_p([6] * 4, drawn))


@pytest.mark.parametrize("drawn", [(8, 12, 0), (14, 5, 1), (3, 2, 15)])
def test_ranks_are_merged_with_their_neighbours(many_draws, drawn):
    """A third of 60 items: groups need 15. Ranks 1 and 2 have 18, 3 and 4 have 20, and the other 22 are not ranked."""
    group = np.repeat([0, 1, 2], [18, 20, 22])
    rank = np.r_[np.repeat([1, 2, 3, 4, 0], [10, 8, 16, 4, 22])][:, None]
    sampled = take_counts(group, drawn)
    share = drawn[0] + drawn[1]
    for third in (sampled, ~sampled):  # what is left is as even as what was taken
        check_p_values(
            check_evenness(make(rank), third),
            best_rank=enumerate_p([18, 20, 22], drawn),
            number_of_systems=enumerate_p([38, 22], [share, 20 - share]),
            system=tails(60, 38, 20, share),
        )


@pytest.mark.parametrize("drawn", [(8, 3, 19), (5, 15, 10), (3, 4, 23)])
def test_grades_against_enumeration_where_half_is_sampled(many_draws, drawn):
    """Groups need 10 of 60 items: grades 1 and 3, of 2 items each, join grade 2; 10 items are not judged."""
    said, group = np.repeat([-1, 0, 1, 2, 3], [10, 18, 2, 28, 2]), np.repeat([0, 1, 2], [10, 18, 32])
    found = check_evenness(make(np.ones((60, 1)), said=said), take_counts(group, drawn))
    check_p_values(found, grade=enumerate_p([10, 18, 32], drawn))


@pytest.mark.parametrize("drawn", [(0, 2, 4), (6, 1, 1), (2, 4, 2), (0, 1, 7)])
def test_a_trend_against_enumeration(many_draws, drawn):
    """Two systems that retrieve all 24 items: 8 in the same rank, 8 in ranks 1 and 2, 8 in ranks 1 and 10."""
    group = np.repeat([0, 1, 2], 8)
    rank = np.stack([np.ones(24), np.repeat([1, 2, 10], 8)], axis=1)
    score = np.array([0, 1 - 1 / np.log2(3), 1 - 1 / np.log2(11)])
    found = check_evenness(make(rank), take_counts(group, drawn))
    check_p_values(found, difference_in_rank=enumerate_p([8] * 3, drawn, score))


def test_a_trend_alone_is_told():
    """All have rank 1 in one of two systems that both retrieve them; in the other, 1, 2 or 10, 200 items each."""
    group = np.repeat([0, 1, 2], 200)
    frame = make(np.stack([np.ones(600), np.repeat([1, 2, 10], 200)], axis=1))
    sampled = take_counts(group, (6, 20, 34))
    for part, share in ((sampled, 54 / 60), (~sampled, 346 / 540)):
        found = check_evenness(frame, part).uneven
        assert found is not None
        assert found.by == "difference in rank"
        assert gives(found.group, "differently")
        assert (found.in_sample, found.in_frame) == (share, 400 / 600)  # above the mean


def test_small_groups_are_named_with_their_neighbours():
    """A tenth of 600 items, so that groups need 50: grade 3 has 30."""
    said = np.repeat([-1, 0, 1, 2, 3], [100, 200, 20, 250, 30])
    sampled = take(said > 0, 60)
    for part, share in ((sampled, 1.0), (~sampled, 240 / 540)):
        found = check_evenness(make(np.ones((600, 1)), said=said), part).uneven
        assert found is not None
        assert gives(found.group, "judges", 1, 3)
        assert (found.in_sample, found.in_frame) == (share, 0.5)


def test_systems_against_scipy():
    """The items of one of 40 systems, in a large frame; Bonferroni over systems, Holm over comparisons."""
    source = np.random.default_rng(1)
    rank = np.ones((30_000, 40), np.int16)
    rank[source.random(30_000) < 0.4, 7] = 0
    rank[source.random((30_000, 40)) < 0.01] = 0
    sampled = take(rank[:, 7] > 0, 60) | take(rank[:, 7] == 0, 5)
    raw = [tails(30_000, np.count_nonzero(rank[:, s]), 65, np.count_nonzero(rank[sampled, s])) for s in range(40)]
    assert int(np.argmin(raw)) == 7
    found = check_evenness(make(rank), sampled)
    assert found.p_values["system"] == pytest.approx(6 * 40 * min(raw), rel=1e-6)
    assert found.uneven is not None
    assert gives(found.uneven.group, 10, "'s7'")


def test_even_samples_pass():
    """Adjusted p-values are below .06 no more often than that, and hardly ever below CHANCE."""
    source = np.random.default_rng(3)
    smallest = []
    for trial in range(900):
        frame = make_random(300, 2 + trial % 4, seed=trial // 50)
        sampled = mark(300, source.choice(300, (30, 90, 240)[trial % 3], replace=False))
        smallest.append(min(check_evenness(frame, sampled).p_values.values()))
    alarms = np.sum(np.array(smallest) < CHANCE)
    assert alarms <= 900 * CHANCE + 4 * np.sqrt(900 * CHANCE)
    assert 0.01 < np.mean(np.array(smallest) < 0.06) < 0.06 + 4 * np.sqrt(0.06 / 900)


RANDOM = make_random(2000, 5)
FOUND = RANDOM.rank > 0
BEST = np.where(FOUND, RANDOM.rank, 11).min(axis=1)


@pytest.mark.parametrize(
    ("allowed", "by", "facts"),
    [
        (RANDOM.topic < 8, "topic", ["topic"]),
        (RANDOM.said == 0, "judges' grade", ["judges", 0]),
        (RANDOM.said == -1, "judges' grade", ["without"]),
        (BEST == 2, "best rank", ["best", 2]),
        (FOUND.sum(axis=1) == 3, "number of systems", [10, 3, "systems"]),
        (FOUND.sum(axis=1) == 1, "number of systems", [10, 1, "system"]),
        (~FOUND.any(axis=1), "best rank", ["outside", 10]),
        (FOUND[:, 3], "system", [10, "'s3'"]),
    ],
)
def test_what_differs_most_is_named(allowed, by, facts):
    sampled = take(allowed, min(60, allowed.sum())) | take(np.ones(2000, bool), 60, seed=1)
    found = check_evenness(RANDOM, sampled).uneven
    assert found is not None
    assert found.by == by
    assert gives(found.group, *facts)
    assert found.p_value < CHANCE
    if by == "topic":
        inside = RANDOM.topic == int(re.fullmatch(r".*'q(\d+)'", found.group)[1])
        assert found.in_sample == inside[sampled].mean()
        assert found.in_frame == inside.mean()
    else:
        assert found.in_sample == allowed[sampled].mean()
        assert found.in_frame == pytest.approx(allowed.mean())


def test_the_sentence_gives_the_group_and_both_shares():
    frame = make([[1], [0]] * 200, depth=1)
    found = check_evenness(frame, take(frame.rank[:, 0] > 0, 60) | take(frame.rank[:, 0] == 0, 11)).uneven
    assert found is not None
    group = "from the first rank of system 's0'"
    assert gives(found._replace(group=group).sentence, "85%", group, "50%")
    near = found._replace(in_sample=0.412, in_frame=0.409, group="from topic 'q'")
    assert gives(near.sentence, "41.2%", "from topic 'q'", "40.9%")


def test_names_are_shortened():
    long = "x" * 500 + "\x1b"
    frame = Frame(
        topic=np.zeros(100, np.int64),
        said=np.zeros(100, np.int8),
        rank=np.repeat([[1, 1], [0, 1]], 50, axis=0).astype(np.int16),
        gap=np.repeat([0.0, 1.0], 50),
        depth=10,
        topics=("q",),
        systems=(long, "b"),
    )
    found = check_evenness(frame, mark(100, np.arange(40)))
    assert found.uneven is not None
    assert len(found.uneven.sentence) < 200
    assert found.uneven.sentence.isprintable()


def test_most_of_the_frame_can_be_uneven():
    """What is not sampled is a sample too: without the correction for that, 1,800 of 2,000 would always look even."""
    assert check_evenness(RANDOM, ~take(RANDOM.said == 0, 60)).uneven is not None
    assert check_evenness(RANDOM, ~take(np.ones(2000, bool), 60)).uneven is None


def test_many_topics_are_merged():
    frame = make(np.ones((6000, 1)), np.repeat(np.arange(3000), 2))
    found = check_evenness(frame, take(frame.topic < 1000, 1500)).uneven
    assert found is not None
    assert gives(found.group, 10, "topics")
    assert found.in_frame == pytest.approx(10 / 3000)


@pytest.mark.parametrize("sampled", [np.ones(2000, bool), np.zeros(2000, bool)])
def test_a_census_is_even(sampled):
    found = check_evenness(RANDOM, sampled)
    assert found.uneven is None
    assert found.p_values == dict.fromkeys(COMPARED, 1.0)


def test_few_items_tell_nothing():
    for seed in range(50):
        assert check_evenness(RANDOM, take(RANDOM.said == 0, 3, seed)).uneven is None


def test_all_comparisons_are_listed_and_repeat_themselves():
    sampled = take(RANDOM.said == 0, 25) | take(np.ones(2000, bool), 70, seed=1)
    found = check_evenness(RANDOM, sampled)
    assert tuple(found.p_values) == COMPARED
    assert CHANCE < found.p_values["judges' grade"] < 0.2  # by simulation
    assert found == check_evenness(RANDOM, sampled)


def test_memory_is_bounded():
    """50,000 items of 129 systems have 13 MB of ranks."""
    frame = make_random(50_000, 129)
    tracemalloc.start()
    check_evenness(frame, take(np.ones(50_000, bool), 500))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match=r"\b2,000\b"):
        check_evenness(RANDOM, np.ones(5, bool))
    with pytest.raises(DataError, match="system"):
        make([[1], [2]], said=[0, 0, 0])
    with pytest.raises(DataError, match=r"\b1\b.*\b10\b"):
        make([[1], [11]])


class Collection(NamedTuple):
    """What is known of each judged document."""

    rank: np.ndarray  # (item, system) to depth 100
    topic: np.ndarray
    said: np.ndarray
    gold: np.ndarray
    systems: tuple[str, ...]

    def weigh(self, measure, systems, depth):
        weight = np.r_[0.0, as_weighted_sum(parse_measure(measure), depth, 1).weight]
        rank = self.rank[:, systems]
        return weight[np.where(rank <= depth, rank, 0)]

    def frame(self, items, systems, depth):
        rank = self.rank[np.ix_(items, systems)]
        return Frame(
            topic=self.topic[items],
            said=self.said[items],
            rank=np.where(rank <= depth, rank, 0).astype(np.int16),
            gap=choose_sizes(self.weigh("DCG", systems, depth)[items]),
            depth=depth,
            topics=tuple(map(str, range(int(self.topic.max()) + 1))),
            systems=tuple(self.systems[s] for s in systems),
        )


@pytest.fixture(scope="module")
def collection(shared_data):
    folder = shared_data / "trec-dl-2021-passage"
    gold, labels = kt.read_gold(folder / "gold.qrels"), kt.read_judgments(folder / "llm_labels.tsv.gz")
    labels = labels.keep_rows(labels.judge == labels.judges.index("gpt-4o_umbrela"))
    alignment = align(kt.read_runs(folder / "runs"), gold)
    rank = np.zeros((len(gold.item_topic), len(alignment.systems)), np.int16)
    topic, system, place = np.nonzero(alignment.ranked >= 0)
    rank[alignment.ranked[topic, system, place], system] = place + 1
    said = match_gold(gold, labels).astype(np.int8)
    return Collection(rank, gold.item_topic.astype(np.int64), said, match_gold(gold, gold), alignment.systems)


def find_frames(collection, a, b, others):
    """The documents that two systems weigh differently; the first ranks of all; everything judged."""
    weight = collection.weigh("DCG@10", [a, b], 10)
    differs = np.flatnonzero(weight[:, 0] != weight[:, 1])
    yield "pair", differs, collection.frame(differs, [a, b], 10)
    for name, (items, frame) in others.items():
        yield name, items, frame


def list_samples(collection, items, frame, a, source):
    """Samples of 200, or of all that there are, if these are 100 at least."""
    rank = collection.rank[items, a]
    for name, allowed in (
        ("even", np.ones(len(items), bool)),
        ("top 4", (rank > 0) & (rank <= 4)),
        ("top 10", (rank > 0) & (rank <= 10)),
        ("judge 0", frame.said == 0),
        ("gold 0", collection.gold[items] == 0),
    ):
        count = min(200, int(allowed.sum()))
        if count >= 100:
            yield name, mark(len(items), source.choice(np.flatnonzero(allowed), count, replace=False))


def draw_queue(collection, measure, systems, depth, source):
    """A queue of 200 as `plan` draws it, and what it was drawn from."""
    weight = collection.weigh(measure, systems, depth)
    items = np.flatnonzero(weight.max(axis=1) > weight.min(axis=1))
    chosen = draw_batches(choose_sizes(weight[items]), [200], source)
    return collection.frame(items, systems, depth), mark(len(items), chosen.item)


@pytest.fixture(scope="module")
def caught(collection):
    """Per kind of sample, whether each of many was called uneven; pairs whose frame holds 333 items at least."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evenness, "DRAWS", 8_000)  # for speed, which costs a little power
        return catch(collection)


def catch(collection):
    source = np.random.default_rng(8)
    everyone = range(len(collection.systems))
    first = np.flatnonzero(((collection.rank > 0) & (collection.rank <= 10)).any(axis=1))
    judged = np.arange(len(collection.rank))
    large = {
        name: (items, collection.frame(items, everyone, 10))
        for name, items in (("first ranks", first), ("judged", judged))
    }
    found = defaultdict(list)
    while len(found["pair", "even"]) < 13:
        a, b, *more = source.choice(len(everyone), 10, replace=False)
        if np.count_nonzero(np.ptp(collection.weigh("DCG@10", [a, b], 10), axis=1)) < 200 / 0.6:
            continue
        now = large if len(found["pair", "even"]) % 3 == 0 else {}  # they are slower
        for place, items, frame in find_frames(collection, a, b, now):
            for name, sampled in list_samples(collection, items, frame, a, source):
                found[place, name].append(check_evenness(frame, sampled).uneven is not None)
        for name, measure, systems, depth in (
            ("DCG queue", "DCG@10", [a, b], 10),
            ("RBP queue cut at 10", "RBP(p=0.8)@10", [a, b], 10),
            ("RBP queue", "RBP(p=0.8)", [a, b], 100),
            ("board queue", "DCG@10", [a, b, *more], 10),
        ):
            frame, sampled = draw_queue(collection, measure, systems, depth, source)
            found["pair", name].append(check_evenness(frame, sampled).uneven is not None)
    return found


@pytest.mark.parametrize("place", ["pair", "first ranks", "judged"])
@pytest.mark.parametrize("name", ["top 4", "top 10", "judge 0", "gold 0"])
def test_convenient_samples_of_real_systems_are_caught(caught, place, name):
    assert len(caught[place, name]) >= 5
    assert np.mean(caught[place, name]) >= 0.95


@pytest.mark.parametrize("name", ["DCG queue", "RBP queue cut at 10", "RBP queue", "board queue"])
def test_queues_that_lost_their_chances_are_caught(caught, name):
    assert np.mean(caught["pair", name]) >= 0.95


@pytest.mark.parametrize("place", ["pair", "first ranks", "judged"])
def test_even_samples_of_real_systems_pass(caught, place):
    assert not any(caught[place, "even"])
