"""What is done with finished runs: accept, compare, archive, verify, count their costs."""
