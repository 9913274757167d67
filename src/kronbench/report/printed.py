"""The numbers that a paper prints, beside which its items are shown."""

from __future__ import annotations

import pandas as pd

from kronbench.resources import printed_path
from kronbench.runner.items import Item


def read_printed(item: Item) -> pd.DataFrame | list[pd.DataFrame] | None:
    """The paper's numbers for an item, from the file or files that it names in ``printed/``."""
    if item.printed is None:
        return None
    if isinstance(item.printed, str):
        return pd.read_csv(printed_path(item.paper, item.printed))
    return [pd.read_csv(printed_path(item.paper, name)) for name in item.printed]
