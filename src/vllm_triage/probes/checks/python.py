"""Checks on the Python environment that failed and the libraries it would load."""

from __future__ import annotations

from vllm_triage.model import CheckResult
from vllm_triage.probes.checks.answer import Values, confirms, refutes, text, unknown
from vllm_triage.probes.facts import Facts
from vllm_triage.probes.facts.libraries import WATCHED, stem

_NOTHING = "the environment that failed is not known here"


def module_absent(facts: Facts, values: Values) -> CheckResult:
    """The top-level module of `module` is not there."""
    module = text(values, "module")
    if facts.python is None or not facts.python.modules or not module:
        return unknown(_NOTHING)
    top = module.partition(".")[0]
    where = facts.python.site_packages[0]
    if top not in facts.python.modules:
        return confirms(f"{top} is not in {where}", module=top)
    if "." in module:
        return unknown(f"{top} is in {where}; whether it has {module} is not looked at", module=top)
    return refutes(f"{top} is in {where}", module=top)


def ray_absent(facts: Facts, values: Values) -> CheckResult:
    """Ray is not there."""
    return module_absent(facts, {"module": "ray"})


def torch_absent(facts: Facts, values: Values) -> CheckResult:
    """No torch is there."""
    answer = module_absent(facts, {"module": "torch"})
    return unknown("torch is there; whether it loads is not tried") if answer.outcome == "refutes" else answer


def vllm_absent(facts: Facts, values: Values) -> CheckResult:
    """No vLLM is installed where the shell looks."""
    if facts.python is None:
        return (
            confirms("the shell finds no vllm command here")
            if "python" not in facts.problems
            else unknown(_NOTHING)
        )
    return module_absent(facts, {"module": "vllm"})


def extension_absent(facts: Facts, values: Values) -> CheckResult:
    """The vllm package holds no compiled module."""
    if facts.python is None or "vllm" not in facts.python.modules:
        return unknown(_NOTHING)
    own = [name for name in facts.python.extensions if name.startswith("_")]
    if not own:
        return confirms("the vllm package holds no compiled module", extensions=list(facts.python.extensions))
    return unknown(f"the vllm package holds {own[0]} and {len(own) - 1} more", extensions=own)


def requirement_unmet(facts: Facts, values: Values) -> CheckResult:
    """A version that vLLM requires is not the one installed."""
    if facts.python is None or "vllm" not in facts.python.packages:
        return unknown(_NOTHING)
    package = text(values, "package")
    hits = [said for said in facts.python.conflicts if not package or said.startswith(f"{package.lower()} ")]
    if hits:
        return confirms(hits[0], conflicts=list(facts.python.conflicts[:10]))
    if facts.python.conflicts:
        return unknown(facts.python.conflicts[0], conflicts=list(facts.python.conflicts[:10]))
    return unknown("every version that vLLM itself requires is installed")


def binaries_differ(facts: Facts, values: Values) -> CheckResult:
    """The torch installed is not the version that this vLLM was built against."""
    if facts.python is None or "vllm" not in facts.python.packages:
        return unknown(_NOTHING)
    for said in facts.python.conflicts:
        if said.startswith(("torch", "flash", "xformers", "numpy")):
            return confirms(said)
    return unknown("torch is the version that vLLM's metadata asks for")


def mixed(facts: Facts, values: Values) -> CheckResult:
    """Packages come from more than one place."""
    if facts.python is None or not facts.python.site_packages:
        return unknown(_NOTHING)
    extra = facts.environment.get("PYTHONPATH") if facts.environment else None
    if facts.python.duplicates:
        name, places = next(iter(facts.python.duplicates.items()))
        return confirms(
            f"{name} is installed in {' and in '.join(places)}", duplicates=len(facts.python.duplicates)
        )
    if extra:
        return confirms(f"PYTHONPATH={extra} comes before the environment's own packages")
    if len(facts.python.site_packages) > 1:
        return unknown(f"packages come from {' and '.join(facts.python.site_packages)}")
    return refutes(f"all packages come from {facts.python.site_packages[0]}")


def metadata_absent(facts: Facts, values: Values) -> CheckResult:
    """The metadata of `package` is not there."""
    package = text(values, "package")
    if facts.python is None or not package:
        return unknown(_NOTHING)
    name = package.lower().replace("_", "-")
    if name in facts.python.packages:
        return refutes(f"{name} {facts.python.packages[name]} is installed")
    return confirms(f"{name} has no metadata there") if name == "vllm" else unknown(f"{name} is not watched")


def library_absent(facts: Facts, values: Values) -> CheckResult:
    """The loader would not find `library`."""
    library = text(values, "library")
    if facts.libraries is None or not library:
        return unknown("nothing is known of the shared libraries")
    name = stem(library)
    if name not in WATCHED:
        return unknown(f"{name} is not looked for")
    files = facts.libraries.get(library)
    if not files:
        return (
            confirms(f"{name} is in no folder that is searched")
            if facts.libraries.searched_cache
            else unknown(
                f"{name} is not in LD_LIBRARY_PATH nor in a wheel; the loader's cache could not be read"
            )
        )
    wanted = _version(library)
    if wanted and not any(_version(file.path) in ("", wanted) for file in files):
        return confirms(f"only {files[0].path} is there, and {library} is wanted", path=files[0].path)
    loaded = [file for file in files if file.by != "wheel"]
    if loaded:
        return refutes(f"the loader finds {loaded[0].path}", path=loaded[0].path)
    return unknown(f"{files[0].path} comes with a wheel, which torch loads by its path", path=files[0].path)


def _version(name: str) -> str:
    """The major version in a library's name: "9" of "libcudnn.so.9.1"."""
    return name.rpartition(".so")[2].lstrip(".").partition(".")[0] if ".so" in name else ""
