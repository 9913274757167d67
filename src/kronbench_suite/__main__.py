"""``python -m kronbench_suite``."""

import sys

from kronbench_suite.cli import main

sys.exit(main())
