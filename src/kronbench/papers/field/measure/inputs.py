"""What experiments on published folds read: the fold itself."""

from kronbench.datasets import Dataset, PublishedFold, folds


def published(data: Dataset, name: str) -> PublishedFold:
    """The fold as published; a stand-in only for data that are a stand-in themselves."""
    policy = "auto" if data.source == "surrogate" else "real"
    return folds(data.name, name, data=data, policy=policy)
