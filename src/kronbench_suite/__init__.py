"""The suite: re-runs the papers on structured kernel methods with the library ``kronbench``."""
