"""What NVIDIA's documentation says to do about an Xid message of its kernel driver.

https://docs.nvidia.com/deploy/xid-errors/index.html and the GPU debug guidelines; the least that helps comes first.
"""

from __future__ import annotations

_RESTART = "Restart the program"
_RESET = (
    "Drain the GPU and reset it (`nvidia-smi --gpu-reset -i N`); where it cannot be reset, reboot the host"
)
_REBOOT = "Reboot the host"
_REPLACE = "if it comes back, have the board tested and replaced"

_ACTIONS: dict[int, str] = {
    8: f"{_RESTART}; a kernel ran too long or the GPU hangs.",
    13: f"{_RESTART}; mostly a kernel that reads or writes out of bounds.",
    31: f"{_RESTART}; mostly a kernel that reads or writes memory it does not own.",
    32: f"{_RESTART}; {_REPLACE} (also a sign of a bad PCIe link).",
    38: "Update the driver; it failed inside its firmware.",
    43: f"{_RESTART}; the driver ended a channel that hung by the program's own fault.",
    45: "Look for the Xid before it: this one only tells that the program was cleaned up.",
    48: f"{_RESET}: memory had an error of two bits; {_REPLACE}.",
    61: f"{_RESET}; {_REPLACE}.",
    62: f"{_RESET}; {_REPLACE}.",
    63: f"{_RESET}, so that the damaged row is remapped; nothing is wrong after that.",
    64: f"{_RESET}; a damaged row could not be remapped: {_REPLACE}.",
    69: f"{_RESTART}; mostly the program's own fault.",
    74: f"{_RESET}, and look at the NVLink cables and switches; {_REPLACE}.",
    79: f"{_REBOOT}: the GPU has left the PCIe bus (power, heat, riser, slot); {_REPLACE}.",
    92: f"Many memory errors of one bit: plan a check of the board; {_REPLACE}.",
    94: f"{_RESTART}; a memory error hit it alone, and a reset remaps the row.",
    95: f"{_RESET}: a memory error could not be contained.",
    109: f"{_RESTART}; {_RESET} if it comes back.",
    119: f"{_RESET}: the GPU's own processor (GSP) does not answer; update the driver if it comes back.",
    120: f"{_RESET}: the GPU's own processor (GSP) failed; update the driver if it comes back.",
    140: f"{_RESET}: memory or cache had an error that could not be corrected; {_REPLACE}.",
}


def action(number: int) -> str | None:
    """What to do, as a sentence; None for a number that is not known here."""
    return _ACTIONS.get(number)
