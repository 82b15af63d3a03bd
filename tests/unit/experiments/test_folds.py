"""Folds cut gold into parts, and every item is kept once by a fold that was not trained on it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karatage.errors import DataError, OptionError
from karatage.experiments.square.data_sets import count_parts, make_folds

AMOUNTS = st.sampled_from([5, 10, 20, 25, 33, 50, 67, 75, 80, 90, 95])


@given(amount=AMOUNTS, extra=st.integers(0, 60), seed=st.integers(0, 5))
def test_every_item_is_kept_once_and_never_by_a_fold_trained_on_it(amount, extra, seed):
    items = np.arange(7, 7 + 3 * (count_parts(amount) + extra), 3)
    folds = make_folds(items, amount, np.random.default_rng(seed))
    assert len(folds) == count_parts(amount)
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.kept for fold in folds])), items)
    for fold in folds:
        assert not np.intersect1d(fold.training, fold.kept).size
        assert (np.diff(fold.training) > 0).all()
        assert np.isin(fold.training, items).all()
        assert abs(len(fold.training) - amount / 100 * len(items)) <= 1 + len(items) * 0.005


@given(amount=st.sampled_from([10, 20, 50]))
def test_up_to_half_the_training_parts_partition_the_items(amount):
    items = np.arange(103)
    folds = make_folds(items, amount, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.training for fold in folds])), items)
    for k, fold in enumerate(folds):  # as in SQUARE's fold_retain files
        np.testing.assert_array_equal(fold.kept, folds[k - 1].training)


def test_above_half_a_fold_trains_on_all_it_does_not_keep():
    items = np.arange(50)
    for fold in make_folds(items, 80, np.random.default_rng(0)):
        np.testing.assert_array_equal(np.sort(np.r_[fold.training, fold.kept]), items)


@given(amount=st.sampled_from([0, 10, 20, 50, 80]), extra=st.integers(0, 30))
def test_averaged_folds_keep_every_item_that_they_do_not_train_on(amount, extra):
    items = np.arange(7, 7 + 3 * (10 + extra), 3)
    folds = make_folds(items, amount, np.random.default_rng(0), "averaged")
    assert len(folds) == (count_parts(amount) if amount else 10)
    left = [np.sort(np.r_[fold.training, fold.hidden]) for fold in folds]
    for fold, rest in zip(folds, left, strict=True):
        np.testing.assert_array_equal(np.sort(np.r_[rest, fold.kept]), items)
        assert not (len(fold.training) and len(fold.hidden))
        assert abs(len(rest) - (amount or 10) / 100 * len(items)) <= 1
    pooled = make_folds(items, amount, np.random.default_rng(0))
    if amount:
        for fold, other in zip(folds, pooled, strict=True):
            np.testing.assert_array_equal(fold.training, other.training)
    else:
        np.testing.assert_array_equal(np.sort(np.concatenate([fold.hidden for fold in folds])), items)
        assert len(pooled) == 1


def test_the_seed_decides():
    items = np.arange(100)
    first, same, other = (make_folds(items, 10, np.random.default_rng(seed))[0].training for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first != other).any()


def test_amounts_that_equal_folds_cannot_give_are_refused():
    with pytest.raises(OptionError, match=r"\b30\b.*\b25\b.*\b33\b"):
        count_parts(30)
    with pytest.raises(OptionError, match=r"\b75\b.*\b67\b"):
        count_parts(70)
    for amount in (0, 100, -5):
        with pytest.raises(OptionError, match=r"\b1\b.*\b99\b"):
            count_parts(amount)
    with pytest.raises(DataError, match=r"\b10\b.*\b9\b"):
        make_folds(np.arange(9), 10, np.random.default_rng(0))
    with pytest.raises(DataError, match=r"\b10\b.*\b9\b"):
        make_folds(np.arange(9), 0, np.random.default_rng(0), "averaged")
