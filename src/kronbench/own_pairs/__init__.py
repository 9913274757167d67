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
# Those of a closed form: a model file keeps their training labels, and reading it fits again.
REFITTED = ("CompleteKronRidge", "IndependentRidge", "TwoStepRidge")
# All that a model file can hold; the help of fit names them.
KEPT = tuple(sorted((*REFITTED, "KronNewton", "KronRidge", "KronRidgeCV", "KronSVM", "PairSGD")))
