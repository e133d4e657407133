"""The shell, called in this process."""

import shlex

from windvane.cli import main


def run(capsys, *words):
    """Exit code, standard output, standard error."""
    try:
        code = main([str(word) for word in words])
    except SystemExit as stop:
        code = stop.code
    said = capsys.readouterr()
    return code, said.out, said.err


def reader(capsys, *before):
    """A function of a line as it is typed after these words: what it prints, or says against it."""

    def read(line, code=0):
        found, out, err = run(capsys, *before, *shlex.split(line))
        assert found == code, err
        assert (err == "") == (code == 0), err
        assert "Traceback" not in err
        return out if code == 0 else err

    return read
