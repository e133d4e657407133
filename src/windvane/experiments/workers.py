"""Worker processes that use one BLAS thread each: small matrices are faster that way.

BLAS reads its thread count when it is loaded, so the variables are set while the workers start and
put back afterwards; the caller's own process is never changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@contextmanager
def one_thread_workers() -> Iterator[None]:
    """Processes spawned inside see a limit of one thread; the environment is restored on the way out.

    >>> before = dict(os.environ)
    >>> with one_thread_workers():
    ...     os.environ["OPENBLAS_NUM_THREADS"]
    '1'
    >>> dict(os.environ) == before
    True
    """
    before = {name: os.environ.get(name) for name in VARIABLES}
    os.environ.update(dict.fromkeys(VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
