"""`--facts FILE`: what another host said, given on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from vllm_triage.cli.inputs import InputError

if TYPE_CHECKING:
    from vllm_triage.probes.facts import Facts


def facts_of_file(name: str) -> Facts:
    """Read a facts file.

    Raises:
        InputError: It can't be read or holds no facts.
    """
    from vllm_triage.probes.travel import FactsError, from_file

    try:
        return from_file(Path(name))
    except FactsError as error:
        raise InputError(str(error)) from None
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}: check the path") from None
