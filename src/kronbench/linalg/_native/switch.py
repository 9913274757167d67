"""The one switch of this folder, and the releases of numba that the vector instructions know."""

import os

# Whether plain numba and scipy are asked for; read once, when the package is imported.
SWITCHED_OFF = os.environ.get("KRONBENCH_PLAIN", "0") not in ("", "0")

# The first release of numba that the vector instructions were not tried with.
NUMBA_BEFORE = (0, 69)
