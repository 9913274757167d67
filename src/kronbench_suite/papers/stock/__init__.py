"""Stock et al. (2016): two-step kernel ridge regression."""
