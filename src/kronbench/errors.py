"""The one error that users are meant to read."""


class InputError(ValueError):
    """Something the user gave is wrong: one sentence that names the file or argument,
    what is wrong with it, and what would be right.

    The command line prints it without a traceback.
    """
