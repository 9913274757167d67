"""``python -m kronbench``."""

import sys

from kronbench.cli import main

sys.exit(main())
