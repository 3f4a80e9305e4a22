"""The conditions of a signature beside its words: exception type, frames, phase, kind of line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vllm_triage.catalog.rule import Phase, Signature
from vllm_triage.globs import fits
from vllm_triage.model import ErrorBlock, Frame, Line

# vLLM, its hardware plugins and the packages that its engine calls back into.
_IN_THE_ENGINE = ("/vllm/", "/vllm_ascend/", "/tpu_inference/", "/lmcache/")


def frame_fits(frame: Frame, globs: Iterable[str]) -> bool:
    """Whether one of the `path:function` (or path) globs fits the end of the frame's path."""
    path = frame.file.replace("\\", "/")
    for glob in globs:
        file, _, function = glob.partition(":")
        if (
            function
            and not fits(frame.function.rpartition(".")[2], function)
            and not fits(frame.function, function)
        ):
            continue
        if fits(path, file) or fits(path, f"*/{file}"):
            return True
    return False


def conditions_hold(
    signature: Signature,
    line: Line,
    chain: Sequence[ErrorBlock],
    block: ErrorBlock | None,
    phase: Phase | None,
) -> bool:
    """Whether everything beside the words fits; `chain` are the blocks of the line's whole chain."""
    if line.kind not in signature.on:
        return False
    if signature.exception and not (
        block and any(fits(block.name, glob) or fits(block.type, glob) for glob in signature.exception)
    ):
        return False
    frames = [frame for link in chain for frame in link.frames]
    if signature.frames and not any(frame_fits(frame, signature.frames) for frame in frames):
        return False
    if signature.not_frames and any(frame_fits(frame, signature.not_frames) for frame in frames):
        return False
    return not signature.phases or phase in signature.phases


def refused_by_vllm(block: ErrorBlock) -> bool:
    """Whether vLLM's line raises the exception itself, as far as is known, and not an operator that it calls."""
    source = block.frames[-1].source
    return not source or source.startswith("raise") or block.name not in {"RuntimeError", "TypeError"}


def raised_by_vllm(block: ErrorBlock) -> Frame | None:
    """The deepest frame if it is vLLM's own or that of a package in its engine: then that itself raised there."""
    if not block.frames:
        return None
    deepest = block.frames[-1]
    path = "/" + deepest.file.replace("\\", "/")
    return deepest if any(package in path for package in _IN_THE_ENGINE) else None
