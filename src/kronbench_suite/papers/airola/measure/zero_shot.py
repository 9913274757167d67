"""The labelled pairs of a data set, and the rounds of one ninefold zero-shot split of them.

Parameters
----------
fraction : share of the label matrix that is drawn as pairs
folds : rounds of the cross-validation
"""

import numpy as np

from kronbench.datasets.drug_target import labelled_pairs
from kronbench.evaluation import VertexDisjointKFold
from kronbench_suite.runner.seeds import generator


def drawn_pairs(spec, data):
    """A ``fraction`` of the pairs with their labels, by the seed and the data set alone."""
    return labelled_pairs(data, generator(spec["seed"], "pairs", data.name), spec["fraction"])


def zero_shot_splits(spec, data, rng):
    """These pairs, their labels, and (train, test) of each round of a split that ``rng`` draws."""
    # Both sides are divided into three parts; a round tests on one of nine blocks, and trains on
    # the four that share no vertex with it (section 5.1, figure 2).
    pairs, y = drawn_pairs(spec, data)
    splitter = VertexDisjointKFold(random_state=int(rng.integers(2**31)))
    return pairs, y, list(splitter.split(pairs, y))


class Folds:
    """Nested subsets of the training pairs of each round, in an order that ``rng`` draws."""

    def __init__(self, spec, data, rng):
        self.pairs, self.y, splits = zero_shot_splits(spec, data, rng)
        self.folds = spec["folds"]
        self._orders = [rng.permutation(train) for train, _ in splits]
        self._tests = [test for _, test in splits]

    def n_train(self, size, fold):
        """The pairs of a training set: the whole fold's at most."""
        return min(size, len(self._orders[fold]))

    def train_index(self, size, fold):
        """Which pairs are the first ``size`` training pairs of a fold in its order; increasing."""
        return np.sort(self._orders[fold][:size])

    def train(self, size, fold):
        """These training pairs with their labels."""
        index = self.train_index(size, fold)
        return self.pairs[index], self.y[index]

    def test(self, fold):
        """The test pairs of a fold with their labels."""
        return self.pairs[self._tests[fold]], self.y[self._tests[fold]]
