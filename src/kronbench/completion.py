"""What the shells need to complete commands and options, written from the parser."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")

# Names that are not zsh's own: it runs the same function.
_BASH = """\
# bash completion of kronbench: source <(kronbench completion bash)
_kronbench() {{
    local before=${{COMP_WORDS[COMP_CWORD-1]}} place= part known=
    for part in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$place $part" in
{descents}
        esac
    done
    case "$place" in
{known}
    esac
    case "$place $before" in
{choices}
    esac
    COMPREPLY=($(compgen -W "$known" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _kronbench kronbench
"""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion of a parser's commands, options and choices for one of :data:`SHELLS`.

    Anything else, such as the name of a file, is left to the shell.
    """
    if shell == "fish":
        return "".join(f"{line}\n" for line in _fish(parser))
    text = _bash(parser)
    if shell == "zsh":
        head = "# zsh completion of kronbench: source <(kronbench completion zsh)\n"
        text = head + "autoload -U +X bashcompinit && bashcompinit\n" + text.partition("\n")[2]
    return text


def _commands(parser, path=()) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Each parser with the commands that lead to it, the outermost first."""
    yield path, parser
    for name, command in _below(parser).items():
        yield from _commands(command, (*path, name))


def _below(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def _options(parser):
    return [option for action in parser._actions for option in action.option_strings]


def _choices(parser) -> Iterator[tuple[list[str], list[str], str]]:
    """Of each argument with choices: its options (none where it stands by itself) and these."""
    for action in parser._actions:
        if action.choices and not isinstance(action, argparse._SubParsersAction):
            yield action.option_strings, list(map(str, action.choices)), action.help or ""


def _bash(parser):
    descents, choices, known = [], [], []
    for path, command in _commands(parser):
        place = "".join(f"/{name}" for name in path)
        for name in _below(command):
            descents.append(f'        "{place} {name}") place={place}/{name} ;;')
        words = [*_below(command), *_options(command)]
        for options, values, _ in _choices(command):
            words += [] if options else values
            for option in options:
                choices.append(f'        "{place} {option}") known="{" ".join(values)}" ;;')
        known.append(f'        "{place}") known="{" ".join(words)}" ;;')
    parts = {"descents": descents, "choices": choices, "known": known}
    return _BASH.format(**{name: "\n".join(lines) for name, lines in parts.items()})


def _fish(parser):
    yield "# fish completion of kronbench: kronbench completion fish | source"
    for path, command in _commands(parser):
        seen = [f"__fish_seen_subcommand_from {name}" for name in path]
        inner = " ".join(_below(command))
        here = [*seen, *([f"not __fish_seen_subcommand_from {inner}"] if inner else [])]
        start = "complete -c kronbench" + (f" -n '{'; and '.join(here)}'" if here else "")
        for action in command._actions:
            if isinstance(action, argparse._SubParsersAction):
                for name, text in ((entry.dest, entry.help) for entry in action._choices_actions):
                    yield f"{start} -f -a {name} -d '{_quoted(text)}'"
            for option in action.option_strings:
                kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
                values = " ".join(map(str, action.choices or ()))
                takes = f" -x -a '{values}'" if values else " -r" if action.nargs != 0 else ""
                yield f"{start} {kind}{takes} -d '{_quoted(action.help)}'"
        for options, values, text in _choices(command):
            if not options:
                yield f"{start} -f -a '{' '.join(values)}' -d '{_quoted(text)}'"


def _quoted(text):
    return (text or "").replace("%%", "%").replace("\\", "\\\\").replace("'", "\\'")
