"""`python -m vllm_triage` is the command line."""

from __future__ import annotations

import sys

from vllm_triage.cli import main

if __name__ == "__main__":
    sys.exit(main())
