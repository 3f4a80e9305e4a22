"""Words that mark the lines by which a log is read, whatever the catalog looks for."""

from __future__ import annotations

# Literals, ASCII capitals don't matter. They must be rare in the steady state of a healthy server:
# each occurrence keeps a region of a long log.
LANDMARKS = (
    # a start begins, has succeeded, ends
    "vLLM API server version",
    "non-default args:",
    "Initializing a V1 LLM engine",
    "Initializing an LLM engine",
    "Initializing a V0 LLM engine",
    "Application startup complete",
    "Uvicorn running on",
    "Waiting for application shutdown",
    "Received signal",
    "SIGTERM",
    "KeyboardInterrupt",
    # something failed
    "ERROR 0",
    "ERROR 1",
    "CRITICAL 0",
    "CRITICAL 1",
    "Traceback (most recent call last)",
    "Error: ",
    "Exception: ",
    "Fatal Python error",
    "terminate called after",
    "died unexpectedly",
    "Segmentation fault",
    "core dumped",
    "exit code",
    "exitcode",
    "Killed",
)
