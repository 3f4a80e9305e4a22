"""The catalog's JSON gives back the same catalog."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from vllm_triage.catalog.load import compile_pack
from vllm_triage.catalog.rule import Catalog, Confirm, Example, FieldSpec, RemedySpec, Rule, Signature
from vllm_triage.catalog.serialize import from_json, to_json

_text = st.text(max_size=12)
_texts = st.lists(_text, max_size=3).map(tuple)
_name = st.text("abc_", min_size=1, max_size=5)
_number = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
_signature = st.builds(
    Signature,
    id=_text,
    vllm=st.none() | _text,
    pattern=st.none() | _text,
    phrase=st.none() | _text,
    raised_in=_texts,
    exception=_texts,
    frames=_texts,
    not_frames=_texts,
    phases=_texts,
    on=_texts,
    literals=_texts,
)
_remedy = st.builds(
    RemedySpec,
    title=_text,
    risk=st.sampled_from(["safe", "destructive"]),
    why=st.none() | _text,
    when=st.dictionaries(_name, _text, max_size=2),
    command=_texts,
    steps=_texts,
    set_args=st.dictionaries(_name, _text | _number | st.booleans(), max_size=2),
    unset_args=_texts,
    set_env=st.dictionaries(_name, _text, max_size=2),
    unset_env=_texts,
)
_json = st.recursive(
    st.none() | st.booleans() | _number | _text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_name, inner, max_size=2),
    max_leaves=4,
)
_rule = st.builds(
    Rule,
    id=_text,
    family=_text,
    title=_text,
    rank=st.just("specific"),
    phase=_text,
    retry=st.just("change"),
    status=st.just("stable"),
    since=_text,
    signatures=st.lists(_signature, max_size=2).map(tuple),
    summary=st.none() | _text,
    beats=_texts,
    fields=st.dictionaries(
        _name, st.builds(FieldSpec, type=st.sampled_from(["int", "str"]), unit=st.none() | _text), max_size=2
    ),
    derive=st.dictionaries(_name, _text, max_size=2),
    confirm=st.lists(
        st.builds(Confirm, check=_text, with_=st.dictionaries(_name, _json, max_size=2)), max_size=2
    ).map(tuple),
    remedies=st.lists(_remedy, max_size=2).map(tuple),
    references=_texts,
    examples=st.lists(
        st.builds(
            Example,
            log=_text,
            matches=st.booleans(),
            fields=st.dictionaries(_name, _text | _number, max_size=2),
        ),
        max_size=2,
    ).map(tuple),
    path=st.none() | _text,
)


@settings(max_examples=100)
@given(st.builds(Catalog, rules=st.dictionaries(_name, _rule, max_size=2), version=_text, replaced=_texts))
def test_round_trip_of_any_catalog(catalog: Catalog) -> None:
    back = from_json(to_json(catalog))

    assert back == catalog
    assert to_json(back) == to_json(catalog)  # 4.0 is not 4, and True is not 1


def test_round_trip_of_a_rule_file(write: Callable[..., Path], tmp_path: Path) -> None:
    write()
    catalog = compile_pack(tmp_path / "pack")

    assert from_json(to_json(catalog)) == catalog
