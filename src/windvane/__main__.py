"""`python -m windvane`."""

import sys

from windvane.cli import main

if __name__ == "__main__":
    sys.exit(main())
