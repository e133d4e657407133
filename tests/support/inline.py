"""Runs without processes, of which each costs more than the runs of a test."""

from concurrent.futures import Executor, Future


class Inline(Executor):
    """Runs at once, in this thread; `before` may break it. `ran` has the first argument of each run."""

    def __init__(self, before=lambda *_arguments: None):
        self.before, self.ran = before, []

    def submit(self, function, *arguments):
        future = Future()
        try:
            self.before(*arguments)
            self.ran.append(arguments[0])
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)
        return future
