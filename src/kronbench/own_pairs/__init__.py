"""A user's own pairs: read from files, scored, fitted, kept in a model file, predicted."""

# The models of kronbench.models whose fit takes a PairData; the help of the commands names them.
PAIR_SOLVERS = (
    "CompleteKronRidge",
    "IndependentRidge",
    "KronNewton",
    "KronRidge",
    "KronRidgeCV",
    "KronSVM",
    "PairKNN",
    "PairLibSVM",
    "PairSGD",
    "PairSklearnKNN",
    "TwoStepRidge",
)
