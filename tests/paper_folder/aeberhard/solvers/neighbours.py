"""Neighbours of points whose features have one scale."""

from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler


class ScaledNeighbours(KNeighborsClassifier):
    """Nearest neighbours on standardized features."""

    def fit(self, X, y):
        """Keep the points (n, d) and their classes (n,)."""
        self.scaler_ = StandardScaler().fit(X)
        return super().fit(self.scaler_.transform(X), y)

    def predict(self, X):
        """Classes (t,) of points (t, d)."""
        return super().predict(self.scaler_.transform(X))
