"""Writes which release of vLLM knows which option: `make options` (takes a minute, needs the network).

Source archives are taken from the package index one at a time and only read. An option is a literal such as
"--max-model-len" in the files that define the command line, or a field of the classes it is made from.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from urllib.parse import urljoin

from packaging.version import Version

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
SOURCES = re.compile(r"[^/]+/vllm/(?:engine/arg_utils|entrypoints/.+)\.py$")
MAKES_OPTIONS = re.compile(
    r"^class (?:EngineArgs|(?:Base)?FrontendArgs)\b|parser\.add_argument\(\s*[\"']--host", re.MULTILINE
)
LITERAL = re.compile(r"""["']--([a-z][a-z0-9-]+)["']""")
# The classes whose fields are options of the server itself.
FRONTEND = re.compile(r"^class (?:Base)?FrontendArgs\b.*?(?=^class |^def |\Z)", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^    ([a-z]\w+)\s*:\s", re.MULTILINE)


def archive(release: str) -> bytes:
    page = urllib.request.urlopen(f"{INDEX}/vllm/", timeout=60).read().decode()
    links = (link for link in re.findall(r'href="([^"]+)"', page) if f"/vllm-{release}.tar.gz" in link)
    link = next(links, None)
    if link is None:
        raise SystemExit(f"vllm {release}: the index has no source archive of it")
    return urllib.request.urlopen(urljoin(f"{INDEX}/vllm/", link), timeout=300).read()


def options(release: str) -> Iterator[str]:
    with tarfile.open(fileobj=io.BytesIO(archive(release))) as files:
        for member in files:
            if SOURCES.match(member.name) and (file := files.extractfile(member)):
                text = file.read().decode("utf-8", "replace")
                if not MAKES_OPTIONS.search(text):
                    continue
                yield from LITERAL.findall(text)
                for part in FRONTEND.findall(text):
                    yield from (name.replace("_", "-") for name in FIELD.findall(part))


def main(releases: list[str]) -> None:
    known = {release: set(options(release)) for release in sorted(releases, key=Version)}
    every = sorted(set().union(*known.values()))
    table = {name: [release for release, there in known.items() if name in there] for name in every}
    spans = {name: [found[0], found[-1]] for name, found in table.items()}
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(span)}" for name, span in spans.items())
    print(f'{{"releases": {json.dumps(list(known))},\n "options": {{\n{rows}\n}}}}')


if __name__ == "__main__":
    main(sys.argv[1:])
