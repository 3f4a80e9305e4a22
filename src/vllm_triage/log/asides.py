"""Lines that hold failure words and are no failure: echoes of options, access lines, environment dumps."""

from __future__ import annotations

from vllm_triage.lazy import lazy

# Alternatives of a pattern that is searched for in every line begin with a letter each: `re` then skips what
# can begin none of them, which takes a fifth of the time.
_ECHO = lazy(
    r"non-default args:|Initializing an? (?:V\d )?LLM engine|args: Namespace\(|Dumping (?:input data|scheduler output)"
    r"|API server args|Launching .{0,40} with args|Engine args:|EngineArgs\(|AsyncEngineArgs\("
    # An optional import, logged as an error and followed by another path.
    r"|Failed to import Triton kernels\. Please make sure your triton version is compatible"
    r"|default_args\b|Namespace\(|SamplingParams\(|Received request |Added request ",
)
# What Python's logging prints of an exception where there is none.
_NO_EXCEPTION = "NoneType: None"
_ACCESS = lazy(r' - (?:"|&quot;)(?:GET|POST|PUT|HEAD|DELETE|OPTIONS|PATCH) \S+ HTTP/[\d.]+')
_SHELL_TRACE = lazy(r"\++ \S|\$ \S|root@\S+#|\S{1,40}@\S{1,60}:\S{0,100}[$#] ")
_PROGRESS = lazy(r"%(?<=\d%)(?: Completed )?\|")
_ENVIRONMENT_TITLES = lazy(
    r"\s*(?:System|PyTorch|CPU|vLLM|CUDA / GPU|Python) (?:Info|Environment|Environment Variables)\s*$"
    r"|Environment Variables\s*$|Versions of relevant libraries|PyTorch version *: |Collecting environment information"
)
_RULE = lazy(r"\s*[=-]{10,}\s*$")
_ENVIRONMENT_ENTRY = lazy(
    r"(?!\S{0,80}(?:Error|Exception): )\s*(?:$|[=-]{4,}|\[(?:pip3|conda)\]|[A-Z][\w .()/#+-]{1,48} ?: |[A-Z_]{3,60}=|GPU \d|NIC\d|\s+GPU\d|Legend|\s{2,}\S|vLLM Build Flags|CUDA Archs|GPU Topology)"
)


class Asides:
    """Tells, line by line in order, which lines are to be left out of every search."""

    def __init__(self) -> None:
        self._in_environment = False
        self._in_usage = False

    def __call__(self, text: str, writer: str) -> bool:
        """Whether this message is an aside. `writer` is the prefix's writer ("" for no stamp)."""
        if text.lstrip().startswith(("File ", "Traceback (most")):
            return False
        if text == _NO_EXCEPTION:
            return True
        if writer:
            self._in_environment = self._in_usage = False
        elif self._in_environment:
            if _ENVIRONMENT_ENTRY.match(text) or _ENVIRONMENT_TITLES.match(text):
                return True
            self._in_environment = False
        elif _ENVIRONMENT_TITLES.match(text):
            self._in_environment = True
            return True
        if self._in_usage and not writer:
            if text.startswith((" ", "\t", "[", "-")) and "error:" not in text:
                return True
            self._in_usage = False
        if text.startswith("usage: "):
            self._in_usage = True
            return True
        head = text[:160]
        return bool(
            _ECHO.search(head) or _ACCESS.search(head) or _PROGRESS.search(head) or _SHELL_TRACE.match(head)
        )
