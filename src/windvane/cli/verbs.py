"""Verbs of the command line, each in a file that is loaded when the verb is called."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import chain, groupby
from typing import Any, NamedTuple

NEGATIVE = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)
COMMAND = "  windvane "  # what an example begins with
ROW = re.compile(r"  \S+(?: \S+)* {2,}(?=\S)")  # a word and, below each other, what it means


class Verb(NamedTuple):
    """A word, what it does in one line, and the module and function that add its arguments.

    The module is called like the word unless it says otherwise.
    """

    word: str
    summary: str
    module: str = ""
    function: str = "register"


class VerbParser(argparse.ArgumentParser):
    """The arguments of a verb: they are added when it is called, since its file may take long to load.

    The parser itself is made then, too: of some thirty a command line needs two.
    """

    def __init__(self, *args: Any, register: str | None = None, **keywords: Any) -> None:
        self._register, self._given = register, (args, keywords)

    def __getattr__(self, name: str) -> Any:
        """The first that is asked of it has it made."""
        if "_given" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.begin()
        return getattr(self, name)

    def begin(self) -> None:
        """Make what argparse needs, once."""
        args, keywords = vars(self).pop("_given", (None, None))
        if keywords is not None:
            super().__init__(*args, **keywords)

    def load(self) -> None:
        """Add the arguments, if that has not been done."""
        self.begin()
        if self._register is not None:
            (module, function), self._register = self._register.split(":"), None
            getattr(import_module(module), function)(self)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse, with everything that belongs to the verb; what is not known is said with its usage."""
        self.load()
        return self.refuse_rest(super().parse_known_args(args, namespace))

    def refuse_rest(
        self, found: tuple[argparse.Namespace, list[str]]
    ) -> tuple[argparse.Namespace, list[str]]:
        """What was found, unless something is left that nobody knows."""
        if found[1]:
            self.error(f"unrecognized arguments: {' '.join(found[1])}")
        return found

    def described(self, description: str, epilog: str | None = None) -> None:
        """What `--help` says above and below the arguments, line by line as it is written where that fits."""
        self.description, self.epilog = description, epilog
        self.formatter_class = AsWritten


class AsWritten(argparse.RawDescriptionHelpFormatter):
    """Lines as they are; what is wider than the terminal is broken so that examples can still be pasted."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        found: list[str] = []
        for kept, group in groupby(text.splitlines(), key=lambda line: line[:1] in ("", " ")):
            lines = list(group)
            if max(map(len, lines)) <= width:
                found += lines
            elif kept:
                found += narrowed(lines, width)
            else:
                found += textwrap.wrap(" ".join(lines), width, break_on_hyphens=False)
        return "".join(f"{indent}{line}\n" for line in found)


def narrowed(lines: Sequence[str], width: int) -> list[str]:
    r"""Indented lines that fit: remarks above their commands, which go on below, and sentences wrapped.

    >>> print("\n".join(narrowed(["  windvane serve    a page", "  windvane list algorithms --json"], 30)))
      # a page
      windvane serve
      windvane list algorithms \
          --json
    """
    found: list[str] = []
    for sort, group in groupby(lines, key=_sort):
        some = list(group)
        if sort == "command":
            found += chain.from_iterable(_pasted(line, width) for line in some)
        elif sort == "row":
            found += chain.from_iterable(_hung(line, width) for line in some)
        elif sort == "sentence":
            found += textwrap.wrap(
                " ".join(map(str.strip, some)), width, initial_indent="  ", subsequent_indent="  "
            )
        else:
            found += some
    return found


def _sort(line: str) -> str:
    """What an indented line is: deeper ones are code, which stays."""
    if line.startswith(COMMAND):
        return "command"
    if ROW.match(line):
        return "row"
    return "sentence" if re.match(r"  [A-Za-z-]", line) else "code"


def _hung(row: str, width: int) -> list[str]:
    """A row of two columns, the second one wrapped below itself."""
    head = ROW.match(row)
    return textwrap.wrap(row, width, subsequent_indent=" " * (head.end() if head else 0))


def _pasted(line: str, width: int) -> Iterator[str]:
    """A command with its remark above it, broken before an option where it is too long."""
    command, *remark = re.split(r"(?<=\S) {2,}", line, maxsplit=1)
    if remark:
        yield f"  # {remark[0]}"
    while len(command) > width and (cut := command.rfind(" --", len(COMMAND), width + 1)) > 0:
        yield f"{command[:cut]} \\"
        command = f"      {command[cut + 1 :]}"
    yield command


class Words(VerbParser):
    """Options may stand anywhere between the words, and -1e-05 is a number, not an option."""

    _within = False

    def begin(self) -> None:
        """As above."""
        super().begin()
        self._negative_number_matcher = NEGATIVE  # argparse's own knows no exponents before Python 3.14

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options first, then words, which argparse calls intermixed; that calls this method again."""
        self.load()
        if self._within:
            return argparse.ArgumentParser.parse_known_args(self, args, namespace)
        self._within = True
        try:
            return self.refuse_rest(self.parse_known_intermixed_args(args, namespace))
        finally:
            self._within = False


def add_verbs(
    parser: argparse.ArgumentParser,
    verbs: Sequence[Verb],
    *,
    package: str,
    dest: str,
    parser_class: type[VerbParser],
) -> None:
    """The verbs of a package below a parser; without one, the help is what was asked for."""
    parser.set_defaults(run=lambda _given: parser.print_help())
    group: Any = parser.add_subparsers(dest=dest, metavar="VERB", parser_class=parser_class)
    for verb in verbs:
        sentence = f"{verb.summary[0].upper()}{verb.summary[1:]}."
        place = f"{package}.{verb.module or verb.word}:{verb.function}"
        group.add_parser(verb.word, help=verb.summary, description=sentence, register=place)
