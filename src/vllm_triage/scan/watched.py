"""Words by which a log that is being written is followed, without taking it apart."""

from __future__ import annotations

READY = ("Application startup complete", "Uvicorn running on", "server is ready")
FATAL = (
    "Traceback (most recent call last)",
    "ERROR 0",
    "ERROR 1",
    "CRITICAL 0",
    "CRITICAL 1",
    "Error: ",
    "Exception: ",
    "died unexpectedly",
    "EngineDeadError",
    "Fatal Python error",
    "terminate called after",
    "Segmentation fault",
    "core dumped",
    "exit code",
    "Killed",
)
# Lines that say only that somebody still waits.
WAITING = (
    "core engine proc(s) to start",
    "shared memory broadcast block",
    "still waiting",
    "Waiting for creating a placement group",
    "Retrying in ",
    "' thrown while requesting ",
)
WATCHED = (*READY, *FATAL, *WAITING)
