"""What is done with finished runs: accept, compare, archive."""
