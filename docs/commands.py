"""The parser of the command line in three parts, for its page in the reference."""

import argparse

from kronbench import cli


def own():
    """Commands for a user's own pairs and predictions."""
    return _parser(cli._add_own_pairs)


def suite():
    """Commands that run the suite."""
    return _parser(cli._add_own_methods, cli._add_suite)


def jobs():
    """Commands that jobs call."""
    return _parser(cli._add_jobs)


def _parser(*groups):
    parser = argparse.ArgumentParser(prog="kronbench", add_help=False)
    add = cli._adder(parser, "COMMAND")
    for add_commands in groups:
        add_commands(add)
    (commands,) = (action.choices for action in parser._actions)
    parser.usage = f"kronbench {'|'.join(commands)}"
    return parser
