"""Verbs of the command line, each in a file that is loaded when the verb is called."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

NEGATIVE = re.compile(r"-(\.?\d|inf|nan)", re.IGNORECASE)


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
    """Lines as they are; sentences wider than the terminal are broken between words, examples are not."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        found: list[str] = []
        for kept, group in groupby(text.splitlines(), key=lambda line: line[:1] in ("", " ")):
            lines = list(group)
            wide = not kept and max(map(len, lines)) > width
            found += textwrap.wrap(" ".join(lines), width, break_on_hyphens=False) if wide else lines
        return "".join(f"{indent}{line}\n" for line in found)


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
