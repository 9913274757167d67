"""The wine data, which ship with scikit-learn."""

from kronbench.datasets import Loader


def wine(rng):
    """X (178, 13) and the growers y (178,); nothing is drawn."""
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return {"X": X, "y": y}


WINE = Loader("vectors", generate=wine)
