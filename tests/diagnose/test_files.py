"""Several files of one failure."""

from __future__ import annotations

from pathlib import Path

from vllm_triage import Triager

BANNER = "INFO 11-20 10:00:00 [api_server.py:1] vLLM API server version 0.11.0\n"
WRAPPER = "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above.\n"


def worker(rank: int, second: int, text: str) -> str:
    return (
        f"(Worker_TP{rank} pid={rank + 10}) ERROR 11-20 10:00:{second:02} [multiproc_executor.py:5] {text}\n"
    )


def write(folder: Path, **logs: str) -> list[Path]:
    paths = [folder / f"{name}.log" for name in logs]
    for path, text in zip(paths, logs.values(), strict=True):
        path.write_text(text)
    return paths


def test_the_rank_that_failed_first_answers_and_its_file_is_named(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        rank0=BANNER
        + worker(0, 9, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."),
        rank1=BANNER + worker(1, 3, "ModuleNotFoundError: No module named 'frobnicate'"),
        server=BANNER + WRAPPER,
    )

    report = Triager().triage(paths)

    assert report.diagnoses[0].rule == "python-module-missing"
    assert report.diagnoses[0].evidence[0].source.endswith("rank1.log")
    assert report.diagnoses[0].evidence[0].line == 2


def test_a_file_with_the_error_wins_over_one_that_refers_to_it(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        a_server=BANNER + WRAPPER,
        b_engine=BANNER + worker(1, 3, "ValueError: the frob is upside down"),
    )

    report = Triager().triage(paths)

    assert report.verdict == "failed"
    assert report.root_error is not None
    assert "upside down" in report.root_error.message


def test_one_healthy_file_does_not_hide_the_failure_of_another(tmp_path: Path) -> None:
    paths = write(
        tmp_path,
        router=BANNER + "INFO:     Application startup complete.\n",
        engine=BANNER + worker(0, 3, "ModuleNotFoundError: No module named 'frobnicate'"),
    )

    assert Triager().triage(paths).verdict == "failed"
