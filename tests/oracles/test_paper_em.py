"""`emmv` and `emneu` against [AWARE17]'s EM written out, zeros included."""

import numpy as np
import pytest

import karatage as kt
from tests.oracles.paper_em import from_majority, from_neutral, run

STARTS = {"emmv": from_majority, "emneu": from_neutral}


def make_crowd(seed, *, grades=2, topics=4, judges=5, seen=1.0):
    """Votes (topic -> document -> judge -> grade): the first judge says 0 only, topic 0 has only zeros."""
    source = np.random.default_rng(seed)
    crowd = {}
    for t in range(topics):
        for d in range(source.integers(3, 30)):
            truth = source.integers(grades)
            said = {}
            for j in range(judges):
                right = source.random() < 0.55 + 0.1 * j
                grade = int(truth if right else source.integers(grades))
                if j == judges - 1 or source.random() < seen:
                    said[f"j{j}"] = 0 if j == 0 or t == 0 else grade
            crowd.setdefault(f"t{t}", {})[f"d{d:02d}"] = said
    return crowd


def read(crowd, grades):
    rows = [
        (judge, topic, document, grade)
        for topic, documents in crowd.items()
        for document, said in documents.items()
        for judge, grade in said.items()
    ]
    columns = ("judge", "topic", "document", "grade")
    return kt.read_judgments(dict(zip(columns, zip(*rows, strict=True), strict=True)), grades=f"0-{grades - 1}")


def place(judgments):
    documents = judgments.documents.to_list()
    pairs = zip(judgments.item_topic.tolist(), judgments.item_document.tolist(), strict=True)
    return {(judgments.topics[t], documents[d]): k for k, (t, d) in enumerate(pairs)}


def compare(crowd, approach, grades, tolerance=1e-3):
    """Posteriors, matrices and the number of steps, topic by topic; how many cells of matrices are exactly 0."""
    model = f"{approach}(tolerance={tolerance:g})"
    judgments = read(crowd, grades)
    ours, at, zeros = kt.aggregate(judgments, model), place(judgments), 0
    owner = {pair: k for k, pair in enumerate(zip(ours.judge_topics, ours.judge_names, strict=True))}
    for topic, votes in crowd.items():
        theirs = run(votes, STARTS[approach](votes, grades), grades, tolerance, 1000)
        for document, belief in theirs.belief.items():
            assert ours.probability[at[topic, document]] == pytest.approx(belief, abs=1e-12)
        for judge, matrix in theirs.matrices.items():
            found = ours.parameters["confusion"][owner[topic, judge]]
            assert found == pytest.approx(np.array(matrix), abs=1e-12)
            assert ((found == 0) == (np.array(matrix) == 0)).all()
            zeros += int((found == 0).sum())
        alone = kt.aggregate(read({topic: votes}, grades), model)
        assert alone.iterations == theirs.steps
        assert (alone.probability == ours.probability[judgments.item_topic == judgments.topics.index(topic)]).all()
    return zeros


@pytest.mark.parametrize("approach", STARTS)
@pytest.mark.parametrize(("grades", "seen"), [(2, 1.0), (2, 0.6), (4, 1.0), (4, 0.5)])
def test_every_posterior_matrix_and_number_of_steps(approach, grades, seen):
    zeros = [compare(make_crowd(seed, grades=grades, seen=seen), approach, grades) for seed in range(6)]
    assert min(zeros) > 0


def test_to_rest():
    for seed in range(3):
        compare(make_crowd(seed, judges=4), "emmv", 2, tolerance=1e-9)


@pytest.mark.parametrize("approach", STARTS)
def test_known_grades_are_kept(approach):
    crowd = make_crowd(3)
    known = {topic: dict.fromkeys(list(votes)[:4], 1) for topic, votes in crowd.items()}
    rows = [(topic, document, grade) for topic, grades in known.items() for document, grade in grades.items()]
    gold = kt.read_gold(dict(zip(("topic", "document", "grade"), zip(*rows, strict=True), strict=True)))
    judgments = read(crowd, 2)
    ours, at = kt.aggregate(judgments, approach, gold=gold), place(judgments)
    for topic, votes in crowd.items():
        theirs = run(votes, STARTS[approach](votes, 2), 2, 1e-3, 1000, known[topic])
        for document, belief in theirs.belief.items():
            assert ours.probability[at[topic, document]] == pytest.approx(belief, abs=1e-12)
