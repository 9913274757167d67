"""The data that the papers' measurements are tested on."""

from tests.papers.conftest import data, nr  # noqa: F401
