"""The real `vllm serve` through the pipe and through `run`: `make e2e`, some ten minutes on two cores."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

HOME = Path(os.environ.get("E2E_HOME", ""))
pytestmark = pytest.mark.skipif("E2E_HOME" not in os.environ, reason="run: make e2e")

TOOL = [sys.executable, "-m", "vllm_triage"]
START_S = 240.0


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the tiny model, to be broken."""
    return Path(shutil.copytree(HOME / "models" / "tiny", tmp_path / "tiny"))


def environment(**more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{HOME}/venv/bin:{os.environ['PATH']}",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(HOME / "hf"),
        "VLLM_CACHE_ROOT": str(HOME / "cache"),
        **more,
    }


def serve(model: Path | str, port: int, *words: str) -> list[str]:
    own = {word for word in words if word.startswith("--")}
    usual = {"--max-model-len": "256", "--dtype": "bfloat16", "--port": str(port)}
    options = [part for name, value in usual.items() if name not in own for part in (name, value)]
    return ["vllm", "serve", str(model), "--enforce-eager", *options, *words]


def report_of(command: list[str], **variables: str) -> dict[str, object]:
    """Start a server through the pipe and return the report."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(**variables)
    ) as server:
        done = subprocess.run(
            [*TOOL, "--format", "json"],
            stdin=server.stdout,
            capture_output=True,
            timeout=START_S,
            check=False,
        )
    made: dict[str, object] = json.loads(done.stdout)
    return made


def remove(name: str) -> Callable[[Path], object]:
    return lambda model: (model / name).unlink()


def cut(name: str) -> Callable[[Path], object]:
    return lambda model: os.truncate(model / name, 1000)


def change(**keys: object) -> Callable[[Path], object]:
    def write(model: Path) -> None:
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps({**config, **keys}))

    return write


def nothing(model: Path) -> None:
    """The model is sound."""


FAULTS: dict[str, tuple[Callable[[Path], object], list[str], dict[str, str], set[str]]] = {
    "too long": (nothing, ["--max-model-len", "1024"], {}, {"max-model-len-exceeds-config"}),
    "three GPUs": (nothing, ["--tensor-parallel-size", "3"], {}, {"heads-not-divisible"}),
    "removed option": (nothing, ["--swap-space", "4"], {}, {"cli-argument-unrecognized"}),
    "no such dtype": (nothing, ["--dtype", "float13"], {}, {"cli-value-invalid"}),
    "small batch": (nothing, ["--max-num-batched-tokens", "16", "--no-enable-chunked-prefill"], {}, {"batched-tokens-below-max-len"}),
    "no config": (remove("config.json"), [], {}, {"model-config-missing"}),
    "unknown architecture": (change(architectures=["NoSuchModel"]), [], {}, {"architecture-unsupported"}),
    "unknown model type": (change(model_type="nosuch"), [], {}, {"model-type-unknown"}),
    "no weights": (remove("model.safetensors"), [], {}, {"weights-missing"}),
    "weights cut off": (cut("model.safetensors"), [], {}, {"weights-corrupted"}),
    "tokenizer cut off": (cut("tokenizer.json"), [], {}, {"tokenizer-load-failed"}),
    "no such parser": (nothing, ["--enable-auto-tool-choice", "--tool-call-parser", "nosuch"], {}, {"tool-parser-invalid"}),
    "cache larger than the host": (nothing, [], {"VLLM_CPU_KVCACHE_SPACE": "9000"}, {"cpu-kv-cache-space", "host-memory-allocation-failed"}),
    "no such port": (nothing, [], {"VLLM_PORT": "tcp://10.0.0.1:8000"}, {"env-var-invalid"}),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault: str, model: Path, port: int) -> None:
    break_it, words, variables, rules = FAULTS[fault]
    break_it(model)

    report = report_of(serve(model, port, *words), **variables)

    assert report["verdict"] == "failed"
    assert report["diagnoses"], report["root_error"]
    first = report["diagnoses"][0]  # type: ignore[index]
    assert first["rule"] in rules
    assert first["status"] in {"confirmed", "likely"}


def test_a_path_that_is_wrong(port: int) -> None:
    report = report_of(serve("/no/such/model", port))

    assert report["diagnoses"][0]["rule"] == "model-path-invalid"  # type: ignore[index]
    assert report["diagnoses"][0]["status"] == "confirmed"  # type: ignore[index]


def test_a_port_that_is_taken(model: Path) -> None:
    with socket.create_server(("", 0)) as taken:
        report = report_of(serve(model, taken.getsockname()[1]))

    assert report["diagnoses"][0]["rule"] == "port-in-use"  # type: ignore[index]


class Running:
    """A server under `run`, with what it and we have said so far."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.out: list[str] = []
        self.err: list[str] = []
        self._threads = [
            threading.Thread(target=self._read, args=pair, daemon=True)
            for pair in ((process.stdout, self.out), (process.stderr, self.err))
        ]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _read(pipe: Iterator[str], into: list[str]) -> None:
        for line in pipe:
            into.append(line)  # at once, since others look at it meanwhile

    def wait_for(self, text: str) -> str:
        """The first line of either stream that holds a text."""
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            for line in (*self.out, *self.err):
                if text in line:
                    return line
            if self.process.poll() is not None:
                break
            time.sleep(0.2)
        raise AssertionError(f"{text!r} was not said:\n" + "".join([*self.out, *self.err])[-3000:])

    def end(self) -> str:
        """Wait for the end; what we said."""
        self.process.wait(timeout=START_S)
        for thread in self._threads:
            thread.join(timeout=10)
        return "".join(self.err)


@contextmanager
def running(command: list[str], *options: str, **variables: str) -> Iterator[Running]:
    with subprocess.Popen([*TOOL, "run", *options, "--", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(**variables)) as process:  # fmt: skip
        try:
            yield Running(process)
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=60)
                except subprocess.TimeoutExpired:
                    process.kill()


def complete(port: int) -> int:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/completions",
        data=json.dumps({"prompt": "a small", "max_tokens": 4}).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(answer.status)


def pids_of(name: str, lines: list[str]) -> list[int]:
    """Process ids in prefixes such as (EngineCore pid=12)."""
    found = {part.partition(")")[0] for line in lines for part in line.split(f"({name} pid=")[1:]}
    return sorted(int(pid) for pid in found if pid.isdigit())


def test_a_healthy_server_serves_and_stops_in_order(model: Path, port: int) -> None:
    with running(serve(model, port)) as server:
        assert server.wait_for("vllm-triage: ready").count("KV cache")
        assert complete(port) == 200
        server.process.send_signal(signal.SIGINT)
        said = server.end()

    assert server.process.returncode == 0
    assert "failed" not in said


def test_an_engine_that_dies_while_serving(model: Path, port: int) -> None:
    with running(serve(model, port), "--exit-code-map") as server:
        server.wait_for("vllm-triage: ready")
        os.kill(pids_of("EngineCore", server.out)[0], signal.SIGKILL)
        said = server.end()

    assert "engine-dead" in said or "host-oom-killed" in said
    assert server.process.returncode == 75


def test_a_worker_that_dies_while_it_starts(model: Path, port: int) -> None:
    with running(
        serve(model, port, "--tensor-parallel-size", "2"), VLLM_CPU_OMP_THREADS_BIND="nobind"
    ) as server:
        server.wait_for("(Worker pid=")
        os.kill(pids_of("Worker", server.out)[-1], signal.SIGKILL)
        said = server.end()

    # The other worker sees its connection close.
    assert any(rule in said for rule in ("worker-died", "host-oom-killed", "gloo-connect-failed"))


def test_ctrl_c_during_the_start(model: Path, port: int) -> None:
    with running(serve(model, port)) as server:
        server.wait_for("non-default args")
        server.process.send_signal(signal.SIGINT)
        said = server.end()

    assert "stopped-from-outside" in said


def test_a_hub_that_never_answers_is_a_stall(port: int, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hub:
        endpoint = f"http://127.0.0.1:{hub.getsockname()[1]}"
        with running(serve("acme/never", port), "--stall-after", "20", HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="0", HF_HUB_ETAG_TIMEOUT="600", HF_HOME=str(tmp_path)) as server:  # fmt: skip
            server.wait_for("nothing has moved for")


def test_the_tool_beside_vllm_moves_none_of_its_packages() -> None:
    """What pip would do in vLLM's environment: add, and change nothing."""
    root = Path(__file__).parents[2]
    words = [HOME / "venv" / "bin" / "pip", "install", "--dry-run", "--quiet", "--report", "-", root]
    planned = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    there = {
        path.name.partition("-")[0].lower()
        for path in HOME.glob("venv/lib/python3*/site-packages/*.dist-info")
    }

    added = {item["metadata"]["name"].lower().replace("-", "_") for item in planned["install"]}

    assert added - {"vllm_triage"} <= {"rapidfuzz", "nvidia_ml_py", "hyperscan"} | (added - there)
    assert not (added & there)


def test_the_vllm_of_the_path_is_seen_from_another_environment(model: Path) -> None:
    doctor = subprocess.run(
        [*TOOL, "doctor"], capture_output=True, text=True, env=environment(), check=False
    ).stdout
    words = [*TOOL, "preflight", "--", "vllm", "serve", str(model), "--max-model-len", "1024"]
    preflight = subprocess.run(words, capture_output=True, text=True, env=environment(), check=False)

    assert f"{(HOME / 'venv').resolve()}/" in doctor.replace("\n", "").replace(" ", "")
    assert "max-model-len-exceeds-config" in preflight.stdout
    assert preflight.returncode == 1
