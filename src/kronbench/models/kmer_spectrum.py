"""Features of protein sequences from how often each word of k amino acids occurs."""

import warnings

import numpy as np

from kronbench.models._of_texts import OfTexts
from kronbench.models._parameters import UP_TO_5, estimator, parameter

# The code of a byte: the place of an amino acid among the 20, -1 for what else a sequence may
# have, or a blank, and -2 for any other character.
_CODES = np.full(256, -2)
_CODES[[*b"BJOUXZ* "]] = -1
_CODES[[*b"ACDEFGHIKLMNPQRSTVWY"]] = np.arange(20)


@estimator
class KmerSpectrum(OfTexts):
    """How often each word of k amino acids occurs in a sequence: the spectrum of a protein.

    A feature is the root of the count of a word, and each row has length 1: sqrt(c_w / sum c).
    The linear kernel of two sequences is then the cosine of the roots of their counts,
    Bhattacharyya's coefficient of the distributions of their words. Without the root it is the
    normalized spectrum kernel of Leslie, Eskin & Noble (2002, Pac. Symp. Biocomput., 564-575).

    Parameters
    ----------
    k : int, default 3
        Letters of a word, from 1 to 5: there are 20^k features, in the alphabetical order of the
        words.

    Notes
    -----
    Small letters are read as capitals. A word with another letter than those of the 20 amino acids
    is not counted, and a UserWarning tells the first one and how many sequences have such: X, B, Z
    and J stand for several amino acids, U and O for rare ones, * for the end. Any other character,
    such as the - of an alignment, is refused, and so is a sequence without a word that is counted,
    such as one of fewer than k letters.
    """

    k: int = parameter(3, UP_TO_5)  # 20^5 are 3.2 million columns

    def _features(self, texts, refusal):
        powers, rows, others = 20 ** np.arange(self.k)[::-1], [], []
        for place, sequence in enumerate(texts):
            # A character that Latin-1 has not becomes "?". The blanks end the last windows.
            codes = _CODES[[*(sequence + " " * self.k).encode("latin-1", "replace").upper()]]
            if codes[at := codes.argmin()] < -1:
                wrong = f"{sequence[at]!r} as letter {at + 1}, which stands for no amino acid"
                raise refusal(place, f"has {wrong}: leave it out")
            windows = np.lib.stride_tricks.sliding_window_view(codes, self.k)
            # A word is the number whose digits, of base 20, are the codes of its k letters.
            counted = windows[(windows >= 0).all(axis=1)] @ powers
            words, counts = np.unique(counted, return_counts=True)
            if not words.size:
                raise refusal(place, f"has no word of {self.k} amino acids: give a longer one")
            if at < len(sequence):
                others.append(refusal(place, f"has {sequence[at]!r} as letter {at + 1}"))
            rows.append((words, np.sqrt(counts / counts.sum())))
        if others:
            count = f"{len(others)} of {len(texts)} sequences have letters of no amino acid"
            warnings.warn(f"{others[0]}: {count}, and no word with one is counted", stacklevel=4)
        return 20**self.k, rows
