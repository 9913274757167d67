"""The parser of the command line in three parts, for its page in the reference."""

import argparse

from kronbench.cli import add_data, add_own_pairs, adder
from kronbench_suite import cli


def own():
    """Commands for a user's own pairs and predictions."""
    return _parser(add_own_pairs, cli._add_score)


def suite():
    """Commands that run the suite."""
    return _parser(cli._add_own_methods, add_data, cli._add_suite)


def jobs():
    """Commands that jobs call."""
    return _parser(cli._add_jobs)


def _parser(*groups):
    parser = argparse.ArgumentParser(prog="kronbench", add_help=False)
    add = adder(parser, "COMMAND")
    for add_commands in groups:
        add_commands(add)
    (commands,) = (action.choices for action in parser._actions)
    parser.usage = f"kronbench {'|'.join(commands)}"
    return parser
