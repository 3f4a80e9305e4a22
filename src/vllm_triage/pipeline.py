"""The whole way of a log on one page: scan, log, match, diagnose, probes, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from vllm_triage.catalog import Catalog, load_catalog
from vllm_triage.diagnose import diagnose
from vllm_triage.diagnose.ending import with_ending
from vllm_triage.diagnose.files import first_failure
from vllm_triage.log import parse
from vllm_triage.match import Matcher
from vllm_triage.model import Ending, Log, Origin, Outcome, Probing
from vllm_triage.scan import Regions, Scan, Scanner, by_server

if TYPE_CHECKING:
    from vllm_triage.live.herald import Announce, Herald
    from vllm_triage.probes.facts import Facts
    from vllm_triage.report import Report

Source = str | bytes | Path | Iterable[str] | Iterable[Path]
_CHUNK = 1 << 18


class Triager:
    """Finds the root cause in logs; make one and use it for many, also from several threads.

    Args:
        rules: Folders or files with rules of your own; one with a built-in id replaces it.
        probes: Whether this machine is asked to confirm or refute. The log may come from another one.
        facts: What another machine said (`vllm-triage collect`), asked instead of this one.
        origin: The process on this machine that writes the log, if it is known.
        max_lines: Lines kept of a log: its head, its tail and the regions around what matters.

    Raises:
        CatalogError: A rule file is broken; the message lists every problem with file, line and key.
    """

    def __init__(
        self,
        rules: Sequence[Path] = (),
        probes: bool = False,
        max_lines: int = 20_000,
        facts: Facts | None = None,
        origin: Origin | None = None,
    ) -> None:
        self.catalog: Catalog = load_catalog([Path(folder) for folder in rules])
        self.probes = probes
        self.facts = facts
        self.origin = origin
        self.max_lines = max_lines
        self._matcher = Matcher(self.catalog)

    def triage(self, source: Source) -> Report:
        """Read a whole log (text, bytes, lines, a file, or several files of one failure).

        Raises:
            OSError: A file cannot be read. No text makes it raise.
        """
        return self._report(*self.outcome(source))

    def outcome(self, source: Source) -> tuple[Outcome, Log]:
        """What `triage` bases its report on, with the hits that lost and why."""
        return self._probed(*self._judged(source))

    def _judged(self, source: Source) -> tuple[Outcome, Log]:
        if isinstance(source, (str, bytes, Path)):
            return self._outcome(self._scan(source))
        # Lines may come from an endless stream: only the first part is looked at.
        parts: Iterator[str | Path] = iter(source)
        first = next(parts, "")
        if isinstance(first, Path):
            files = [first, *(Path(part) for part in parts)]
            return first_failure([self._outcome(self._scan(file), str(file)) for file in files])
        return self._outcome(self._scan(chain([first], map(str, parts))))

    def stream(
        self,
        on_event: Announce | None = None,
        stall_after: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> Stream:
        """Feed a log as it is written; `report` at any time.

        Args:
            on_event: Called by `feed` and `tick`, with the report of that moment, when the server is
                "ready", is "failing" (it has failed and lives on), or has "stalled"; once each.
            stall_after: Seconds of silence that are a stall; None for what is normal in the phase.
            now: Seconds of a clock that never goes back.
        """
        return Stream(self, on_event, stall_after, now)

    def scanner(self) -> Scanner:
        return Scanner(self._matcher.literals, self.max_lines)

    def report_of(self, scan: Scan, ending: Ending | None = None) -> Report:
        """The report on a scan, and on what is known of the process beside its log."""
        outcome, log = self._outcome(scan)
        if ending is not None:
            outcome = with_ending(outcome, log, ending, self.catalog.rules)
        return self._report(*self._probed(outcome, log))

    def _scan(self, source: str | bytes | Path | Iterable[str]) -> Scan:
        scanner = self.scanner()
        for chunk in _chunks(source):
            scanner.feed(chunk)
        return scanner.close()

    def _outcome(self, scan: Scan, name: str = "") -> tuple[Outcome, Log]:
        def judged(regions: Regions) -> tuple[Outcome, Log]:
            log = parse(regions, scan.total_lines, name)
            return diagnose(log, self._matcher.hits(log), self._matcher.nearest), log

        servers = [judged(regions) for regions in by_server(scan.regions)]
        if any(outcome.verdict == "failed" for outcome, _ in servers):
            return first_failure(servers)
        return judged(scan.regions)

    def _probed(self, outcome: Outcome, log: Log) -> tuple[Outcome, Log]:
        if self.origin is not None:
            outcome = outcome._replace(context=outcome.context._replace(argv=self.origin.argv))
        if outcome.verdict != "failed" or not outcome.findings:
            return outcome._replace(probing=Probing(reason="there is no diagnosis to check")), log
        if self.facts is None and not self.probes:
            return outcome._replace(
                probing=Probing(reason="it was not asked for, and the log may come from another machine"),
            ), log
        from vllm_triage.probes.collect import collect
        from vllm_triage.probes.confirm import confirm
        from vllm_triage.probes.subject import of_failure

        return confirm(outcome, self.facts or collect(of_failure(outcome, log, self.origin))), log

    def _report(self, outcome: Outcome, log: Log) -> Report:
        from vllm_triage.report.build import build

        return build(outcome, log, self.catalog)


class Stream:
    """A log that is still being written; made by `Triager.stream`."""

    def __init__(
        self,
        triager: Triager,
        on_event: Announce | None = None,
        stall_after: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._triager = triager
        self._scanner = triager.scanner()
        self._closed: Report | None = None
        self._herald: Herald | None = None
        if on_event is not None:
            from vllm_triage.live.herald import Herald

            self._herald = Herald(self, on_event, stall_after, now)

    def feed(self, chunk: str | bytes) -> None:
        """Take the next part, cut anywhere."""
        piece = chunk.encode("utf-8", "replace") if isinstance(chunk, str) else chunk
        self._scanner.feed(piece)
        if self._herald is not None:
            self._herald.saw(piece, self._scanner.take_seen())

    def tick(self) -> None:
        """Some time has passed, about a second: what the silence means is looked into here."""
        if self._herald is not None:
            self._herald.tick()

    @property
    def silent_s(self) -> float:
        """Seconds since the log last moved; 0 where no events are asked for."""
        return self._herald.silent_s if self._herald is not None else 0.0

    @property
    def log(self) -> Log:
        """What has come so far, taken apart."""
        scan = self._scanner.snapshot()
        return parse(scan.regions, scan.total_lines)

    @property
    def report(self) -> Report:
        """The report on what has come so far, provisional while the stream is open."""
        return self.report_at(None)

    def report_at(self, ending: Ending | None) -> Report:
        """The same, with what is known of the process that writes."""
        if self._closed is not None:
            return self._closed
        report = self._triager.report_of(self._scanner.snapshot(), ending)
        return report.model_copy(update={"provisional": True})

    def close(self, ending: Ending | None = None) -> Report:
        """End the stream and return the final report; `ending` is what is known beside the log."""
        if self._closed is None:
            self._closed = self._triager.report_of(self._scanner.close(), ending)
        return self._closed

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, type_: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def triage(source: Source) -> Report:
    """Find the root cause in a log, with the built-in catalog and without probing this machine.

    Args:
        source: The log as text, bytes, lines, a Path, or the Paths of several files of one failure.

    Raises:
        OSError: A Path cannot be read. No text makes it raise.
    """
    global _default
    if _default is None:
        _default = Triager()
    return _default.triage(source)


_default: Triager | None = None


def _chunks(source: str | bytes | Path | Iterable[str]) -> Iterable[bytes]:
    if isinstance(source, bytes):
        yield source
    elif isinstance(source, str):
        yield source.encode("utf-8", "replace")
    elif isinstance(source, Path):
        with source.open("rb", buffering=0) as file:
            while chunk := file.read(_CHUNK):
                yield chunk
    else:
        for line in source:
            yield (line if line.endswith("\n") else line + "\n").encode("utf-8", "replace")
