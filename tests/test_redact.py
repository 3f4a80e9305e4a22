from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vllm_triage.redact import redact, redact_data

# In two halves, so that no scanner takes the test for a leak.
LETTERS = "abcdefghijklmnopqrst" + "0123456789ABCDEF"
SECRETS = {
    "hub token": ("{}", "hf_" + LETTERS),
    "hub token in a URL": ("https://user:{}@hub.example.org/x", "hf_" + LETTERS),
    "OpenAI key": ("key {} rejected", "sk-" + LETTERS),
    "OpenAI project key": ("{}", "sk-proj-" + LETTERS + "-x_y"),
    "Anthropic key": ("{}", "sk-ant-api03-" + LETTERS),
    "NVIDIA key": ("{}", "nvapi-" + LETTERS),
    "AWS key id": ("{}", "AKIA" + "ABCDEFGH12345678"),
    "AWS secret": ("AWS_SECRET_ACCESS_KEY={}", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
    "GCP key": ("{}", "AIza" + LETTERS),
    "GCP access token": ("{}", "ya29." + LETTERS),
    "Azure account key": ("DefaultEndpointsProtocol=https;AccountKey={};EndpointSuffix=x", LETTERS + "=="),
    "Azure SAS": ("https://x.blob.core.windows.net/a?sv=2024&sig={}&se=1", "a%2Fb" + LETTERS),
    "GitHub token": ("{}", "ghp_" + LETTERS),
    "GitHub fine-grained token": ("{}", "github_pat_" + LETTERS),
    "GitLab token": ("{}", "glpat-" + LETTERS),
    "Slack token": ("{}", "xoxb-" + "1234567890-abcdefghij"),
    "Slack hook": ("https://hooks.slack.com/services/{}", "T000/B000/" + LETTERS),
    "PyPI token": ("{}", "pypi-" + "AgEIcHlwaS5vcmc" + LETTERS),
    "JWT": ("{}", "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0In0.abc-DEF_123"),
    "bearer": ("Authorization: Bearer {}", LETTERS),
    "bearer in curl": ("curl -H 'Authorization: Bearer {}' http://x", LETTERS),
    "bearer alone": ("sent bearer {} to", LETTERS),
    "basic": ("'Authorization': 'Basic {}'", "dXNlcjpwYXNzd29yZA=="),
    "api_key of an argument list": ("args: Namespace(host=None, api_key='{}', port=8000)", "sesame"),
    "api_key list": ("args: Namespace(api_key=['{}', 'other'], port=8000)", "sesame"),
    "api_key in a dict": ("non-default args: {{'api_key': '{}', 'port': 8000}}", "sesame"),
    "api_key in JSON": ('{{"api_key": "{}", "port": 8000}}', "sesame"),
    "api_key in escaped JSON": (r'{{"log":"{{\"api_key\": \"{}\"}}"}}', "sesame"),
    "api-key option": ("vllm serve demo --api-key {} --port 8000", "sesame"),
    "api-key option with =": ("vllm serve demo --api-key={} --port 8000", "sesame"),
    "api-key option in a list": ("['vllm', 'serve', 'demo', '--api-key', '{}']", "sesame"),
    "token option": ("huggingface-cli login --token {}", "sesame"),
    "hf_token": ("hf_token='{}', model='demo'", "sesame"),
    "HF_TOKEN": ("docker run -e HF_TOKEN={} image", "sesame"),
    "any token variable": ("MY_COMPANY_TOKEN={}", "sesame"),
    "password": ("password: {}", "sesame"),
    "key file password": ("ssl_keyfile_password='{}'", "sesame"),
    "URL with a password": ("redis://cache:{}@10.0.0.1:6379/0", "sesame"),
    "signed URL": ("https://x.s3.amazonaws.com/m?X-Amz-Date=1&X-Amz-Signature={}&b=2", LETTERS),
    "private key": ("-----BEGIN RSA " + "PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "MIIEpAIBAAKCAQEA"),
    "cut private key": ("-----BEGIN " + "PRIVATE KEY-----\n{}", "MIIEpAIBAAKCAQEA"),
    "token cut by an escape": ("hf_{}", "abcdefgh\x1b[0mijklmnopqrst"),
}  # fmt: skip
READABLE = [
    "max_num_batched_tokens=4096, tokenizer='demo/x', skip_tokenizer_init=False, tokenizer_mode=auto",
    "num_tokens: 5, token_ids=[1, 2], stop_token_ids=[3], pad_token_id=0, eos_token='</s>'",
    "api_key=None, hf_token=None, allow_credentials=False, ssl_keyfile='/etc/ssl/key.pem'",
    "GPU KV cache size: 32,768 tokens",
    "Maximum concurrency for 8,192 tokens per request: 4.00x",
    "tcp://10.0.0.1:29500 backend=nccl",
    "unexpected token: 'end of template'",
    "KeyError: 'model.layers.0.self_attn.qkv_proj.weight'",
    "401 Client Error: Unauthorized for url: https://huggingface.co/demo-org/demo/resolve/main/config.json",
    "Invalid token: set HF_TOKEN, or log in",
    "    headers = build_headers(token=token, library_name=name)",
    "cat: /etc/passwd: No such file or directory",
    "Basic correctness checks1 failed",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
]  # fmt: skip


@pytest.mark.parametrize("form, secret", SECRETS.values(), ids=SECRETS)
def test_a_secret_is_masked_and_the_rest_stays(form: str, secret: str) -> None:
    masked = redact(form.format(secret))

    assert secret not in masked
    assert "[redacted:" in masked
    before = form.partition("{}")[0]
    assert (
        "PRIVATE KEY" in before
        or before.startswith("hf_")
        or masked.startswith(before[:9].replace("{{", "{"))
    )


@pytest.mark.parametrize("text", READABLE)
def test_evidence_stays_readable(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a\x00b\x07c\x7fd\x9be", "abcde"),
        ("one\r\ntwo\tthree\u2028four", "one two three four"),
        ("\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07", "red link"),
        ("right\u202eto left\u2066\u200b", "rightto left"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        ("größer 模型 █", "größer 模型 █"),
    ],
)
def test_control_characters_are_removed(text: str, shown: str) -> None:
    assert redact(text) == shown


PIECES = st.sampled_from(
    ["api_key=", "'", '"', "\\", "[", "]", "hf_", "sk-", "a1b2c3d4e5f6a7b8c9", "://", "@", ":", " ", "\n", "token", "password: ", "Bearer ",
     "eyJ", ".", "--", "-----BEGIN PRIVATE KEY-----", "[redacted:key]", "=", "\x1b[", "X_TOKEN=", "None", "?sig=", ","]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join)))
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)

    assert redact(once) == once
    assert all(char.isprintable() or not (ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0) for char in once)


@pytest.mark.parametrize(
    "piece",
    [
        "://",
        "sk-",
        "token=",
        "A_",
        "eyJ",
        "api_key=[",
        "password='",
        "-----BEGIN PRIVATE KEY-----",
        "--a-",
        "\x1b[",
    ],
)
def test_a_hostile_text_is_masked_in_linear_time(piece: str) -> None:
    # Quadratic time would take minutes here, and the run would be stopped.
    assert redact(piece * (300_000 // len(piece))) is not None


def test_values_keep_their_form_and_lose_their_secrets() -> None:
    args = {
        "model": "demo",
        "api_key": ["sesame"],
        "hf_token": None,
        "port": 8000,
        "trust_remote_code": True,
        "max_num_batched_tokens": 4096,
        "hf_overrides": {"password": "sesame", "rope": [1.0, "x"]},
        "odd": object,
        "infinite": float("inf"),
        "huge": 1 << 20_000,
    }

    safe = redact_data(args)

    assert safe["api_key"] == ["[redacted:key]"]
    assert safe["hf_overrides"] == {"password": "[redacted:password]", "rope": [1.0, "x"]}
    assert {name: safe[name] for name in ("model", "hf_token", "port", "trust_remote_code", "max_num_batched_tokens")} == {
        "model": "demo", "hf_token": None, "port": 8000, "trust_remote_code": True, "max_num_batched_tokens": 4096,
    }  # fmt: skip
    assert "sesame" not in json.dumps(safe, allow_nan=False)
