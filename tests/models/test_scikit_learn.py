"""scikit-learn's checks of every public estimator; those of pairs get rows as pairs with one column."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import check_estimator, estimator_checks_generator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from kronbench import PairData, models
from tests.models.test_every_estimator import CLASSES, EXAMPLE_OF, EXAMPLES, flat, of_pairs
