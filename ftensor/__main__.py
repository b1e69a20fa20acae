"""`python -m ftensor` is the `ftensor` command."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
