"""A small corpus like that of the text classification challenge."""

import numpy as np

from kronbench.datasets.corpus_surrogates import surrogate_lshtc


def small_lshtc():
    """Arrays of 500 documents of 40 classes and of 6 novel ones."""
    return surrogate_lshtc(
        np.random.default_rng(4),
        n_words=1500,
        n_documents=500,
        levels=[3, 6, 10, 16, 40],
        n_novel=6,
    )
