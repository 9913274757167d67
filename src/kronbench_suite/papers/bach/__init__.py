"""Bach & Jordan (2005): Cholesky decomposition with side information."""
