"""What rests on the insides of numba and OpenMP, and the one switch that turns it off.

``KRONBENCH_PLAIN=1`` in the environment, set before the first import, leaves plain numba, numpy
and scipy. Products, decompositions and the first iterates of a fit are then the same to 1e-12 in
double precision (``tests/linalg/test_native.py``). Later iterates amplify rounding, as they do
between two processors: once the Lanczos vectors have lost their orthogonality, 2e-9 was seen after
15 steps of MINRES. Each file but ``switch.py`` may be deleted without another change; its caller
then does what it does with the switch.

==========================  ==================  ===================================================
file                        called from         what it touches
==========================  ==================  ===================================================
``switch.py``               all that switch     the variable ``KRONBENCH_PLAIN``
``vector_instructions.py``  ``panel_loops.py``  ``intrinsic`` and ``cgutils`` of numba, and the
                                                builder of llvmlite: it writes LLVM's language
``passive_threads.py``      ``threads.py``      the private module ``omppool`` of numba, and the
                                                variable ``OMP_WAIT_POLICY`` while that is loaded
==========================  ==================  ===================================================

Versions
    The vector instructions serve with numba 0.61, the oldest that is allowed, to 0.68, that of the
    lock. With a newer one they stay off until ``NUMBA_BEFORE`` is raised, which is right where
    ``tests/linalg/test_panel_loops.py`` passes. The threads sleep where numba's OpenMP is GNU's,
    as on Linux; other ones do not read the variable, or read it later, and nothing changes.
    OpenBLAS is used through numpy, scipy and the public functions of threadpoolctl alone
    (``gemm.py``); none of its symbols is named.

How to tell that one broke
    Vector instructions that do not compile end the first product with an error of numba that
    names ``add_rows`` or ``inner_products``. If they compute something else,
    ``tests/linalg/test_panel_loops.py`` fails, which compares them with the plain loops and with
    a dense formula. If threads do not sleep any more, no number moves, and a fit takes more
    processor time on two threads than on one; ``tests/linalg/test_native.py`` asks OpenMP how its
    threads wait.

What the switch costs
    Processor time, both ways in turn on one thread of a processor with AVX-512, 250 to 3000
    vertices a side, a quarter of the pairs. Without vector instructions the sampled product takes
    1.5 to 1.7 times as long in double precision, 1.4 to 1.6 in single precision, blocks of two
    vectors up to 2.2 times, a fit of ``KronSVM`` 1.3 to 1.6 times; the dense method is the same.
    Threads that do not sleep cost nothing on one thread. On two of a busy machine csi of 20,000
    points took three times as long, ``SparseProducts`` five times, and the sampled product, which
    has no parallel loop of numba, no longer than before.
"""
