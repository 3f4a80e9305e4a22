"""In which phase of the start something happened: from the frames of a traceback, else from the lines before it."""

from __future__ import annotations

from collections.abc import Sequence

from vllm_triage.catalog.rule import Phase
from vllm_triage.globs import fits
from vllm_triage.lazy import lazy
from vllm_triage.model import ErrorBlock, Frame, Line

# Each marker begins its phase. Wordings of vLLM 0.4 to 0.33; each alternative begins with a letter, so that
# `re` can skip what can begin none of them.
_MARKERS: dict[Phase, str] = {
    "serving": r"Application startup complete|Uvicorn running on |Avg (?:prompt|generation) throughput: ",
    "api": r"Starting vLLM API server|Started server process|init engine \(profile, create kv cache, warmup model\) took",
    "warm-up": r"Graph capturing finished|Warming up|Warmup(?<!kernel Warmup)(?! by default)|warmup(?<!kernel warmup)(?! by default)|warming up",
    "graph-capture": r"Capturing (?:the model for )?(?:CUDA graphs?|cudagraphs?)|Profiling CUDA graph memory",
    "kv-cache": r"Memory profiling takes|GPU KV cache size|# (?:GPU|CUDA|cuda|CPU|cpu) blocks|Available KV cache memory|Maximum concurrency for",
    "profile": r"torch\.compile (?:and initial profiling run )?(?:takes|took)|Loading (?:model )?weights took|Model loading took|Loading model weights took|Encoder cache will be initialized",
    "compile": r"Using cache directory: .{0,200}torch_compile_cache|Dynamo bytecode transform time|Compiling a graph|Directly load the compiled graph|torch\.compile cache",
    "weights": r"Starting to load model|Loading (?:safetensors|pt|bin) checkpoint shards|Loading weights|Using model weights format|Loading model from scratch",
    "download": r"Downloading|Time spent downloading weights|Fetching \d+ files",
    "distributed": r"world_size=|rank \d+ in world size|init_process_group|vLLM is using nccl|distributed_init_method|ncclCommInitRank|Started a local Ray|Connecting to existing Ray",
    "config": r"Resolved architecture|Using max model len|This model supports multiple tasks|Defaulting to '|Chunked prefill is enabled",
    "arguments": r"non-default args|vLLM API server version|args: Namespace|usage: ",
}  # fmt: skip
_ANY = lazy("|".join(_MARKERS.values()))
_EACH = {phase: lazy(pattern) for phase, pattern in _MARKERS.items()}
# Ray holds back what several actors say and prints it seconds later, when another phase has begun.
_LATE = lazy(r"\[repeated \d+x across cluster\]")
_RIGHT_AFTER = 4
# The first row of which a frame fits wins; the rows go from the narrow to the wide.
_FRAMES: tuple[tuple[Phase, tuple[str, ...]], ...] = (
    ("graph-capture", ("*:capture_model", "*:_capture_cudagraphs", "*:capture", "*cuda_graph.py:__call__", "*torch/cuda/graphs.py:capture_*", "*:profile_cudagraph_memory")),
    ("warm-up", ("*:_dummy_sampler_run", "*:kernel_warmup", "*:compile_or_warm_up_model", "*:warmup_kernels", "*:warming_up_model")),
    ("kv-cache", ("*:initialize_kv_cache*", "*:_allocate_kv_cache*", "*:initialize_from_config", "*:initialize_cache", "*:_init_cache_engine", "*cache_engine.py:*", "*kv_cache_utils.py:*")),
    ("profile", ("*:profile_run", "*:determine_num_available_blocks", "*:determine_available_memory", "*:_profile_*", "*:profile_memory")),
    ("weights", ("*/model_loader/*:*", "*:load_model", "*:load_weights", "*:_load_weights")),
    ("compile", ("*torch/_inductor/*:*", "*torch/_dynamo/*:*", "*vllm/compilation/*:*")),
    ("distributed", ("*:init_worker_distributed_environment", "*:init_distributed_environment", "*torch/distributed/*:init_process_group", "*:initialize_model_parallel", "*:_init_workers_ray", "*ray_utils.py:initialize_ray_cluster")),
    ("serving", ("*:_process_engine_step", "*:run_engine_loop", "*:engine_step", "*:step_with_batch_queue", "*:_run_output_handler", "*llm.py:_run_engine", "*llm.py:generate")),
    ("distributed", ("*worker.py:init_device",)),
    ("config", ("*:create_engine_config", "*:create_model_config", "*:create_vllm_config", "*vllm/config*:*")),
    ("arguments", ("*argparse*:*", "*:parse_args")),
)  # fmt: skip


def of_frames(frames: Sequence[Frame]) -> Phase | None:
    """The phase that the functions of a traceback tell, or None."""
    names = [f"{frame.file}:{frame.function}" for frame in frames]
    for phase, globs in _FRAMES:
        if any(fits(name, glob) for name in names for glob in globs):
            return phase
    if frames and frames[-1].function == "<module>" and "site-packages/vllm/" not in frames[-1].file:
        return "import"
    return None


def markers(lines: Sequence[Line]) -> list[tuple[int, Phase]]:
    """(index, phase) of the lines at which a phase begins, in order."""
    found: list[tuple[int, Phase]] = []
    for line in lines:
        if line.kind in {"exception", "source", "error"}:
            continue
        match = _ANY.search(line.text, 0, 200)
        if match and not _LATE.search(line.text[-200:]):
            phase = next(phase for phase, one in _EACH.items() if one.match(line.text, match.start(), 200))
            if not found or found[-1][1] != phase:
                found.append((line.index, phase))
    return found


def phase_at(marks: Sequence[tuple[int, Phase]], index: int) -> Phase | None:
    """The phase that the last marker before this line began.

    Where the beginning is cut off, that of a marker right after it: processes and bars share a pipe.
    """
    before = next((phase for at, phase in reversed(marks) if at <= index), None)
    return before or next((phase for at, phase in marks if at <= index + _RIGHT_AFTER), None)


def phase_of(block: ErrorBlock, marks: Sequence[tuple[int, Phase]]) -> Phase | None:
    """The phase in which an exception was raised."""
    return of_frames(block.frames) or phase_at(marks, block.lines[0].index)
