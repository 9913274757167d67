"""As many threads of numba as the work is worth."""

from __future__ import annotations

from contextlib import contextmanager

import numba

# Operations for which it pays to wake another thread (about a third of a millisecond).
WORTH_A_THREAD = 1e7

# Numbers of a block for which it pays where each is read a few times at most.
PASS_WORTH_A_THREAD = 2e5


@contextmanager
def at_most_threads(n):
    """No more than n threads of numba in here, and at least one: to wake one takes 50 us."""
    before = numba.get_num_threads()
    fewer = max(1, int(n))
    if fewer >= before:  # each call to set them costs as much as a pass over 10^5 numbers
        yield
        return
    numba.set_num_threads(fewer)
    try:
        yield
    finally:
        numba.set_num_threads(before)
