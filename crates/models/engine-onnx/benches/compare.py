#!/usr/bin/env python3
"""Embeddings a second, ours against Python's onnxruntime, in turns, as a ratio.

    pip install numpy onnx onnxruntime safetensors tokenizers
    cargo bench -p engine-onnx --bench speed --no-run     # prints where the program is
    compare.py PROGRAM MODELS REFERENCE [SECONDS]

MODELS is a folder of models as `tollgate models pull` makes it, REFERENCE the folder of the
32-bit weights (see tests/reference/minilm.py). Both sides get the same sentences, the same
threads and the same library.
"""

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "reference"))
import minilm  # noqa: E402
import onnxruntime  # noqa: E402

ROUNDS = 3
WORDS = (
    "the a of price credit wallet model answer request limit service quick brown fox over lazy dog city river".split()
)


def sentences():
    """640 sentences of 5 to 40 words, 20 tokens on average, the same in every run."""
    source = random.Random(7)
    lengths = [min(40, max(5, round(source.gauss(18, 8)))) for _ in range(640)]
    return [" ".join(source.choices(WORDS, k=it)) for it in lengths]


def theirs(session, tokenizer, texts, batch, seconds):
    batches = [texts[at : at + batch] for at in range(0, len(texts), batch)]
    for at in range(4):
        minilm.embed(session, tokenizer, batches[at % len(batches)])
    begun, done, at = time.monotonic(), 0, 0
    while time.monotonic() - begun < seconds:
        done += len(minilm.embed(session, tokenizer, batches[at % len(batches)]))
        at += 1
    return done / (time.monotonic() - begun)


def ours(program, models, threads, batch, seconds, file):
    arguments = [program, "embedding", models, threads, batch, seconds, file]
    return float(subprocess.check_output([str(it) for it in arguments]))


def main():
    program, models, reference = sys.argv[1:4]
    seconds = int(sys.argv[4]) if 4 < len(sys.argv) else 4
    texts = sentences()
    with tempfile.TemporaryDirectory() as folder:
        file, graph = Path(folder, "sentences.txt"), str(Path(folder, "minilm.onnx"))
        file.write_text("\n".join(texts))
        minilm.export(Path(reference), graph)
        tokenizer = minilm.open_tokenizer(Path(reference))
        for threads in (1, 2):
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            session = onnxruntime.InferenceSession(graph, options)
            for batch in (1, 32):
                pairs = [
                    (
                        theirs(session, tokenizer, texts, batch, seconds),
                        ours(program, models, threads, batch, seconds, file),
                    )
                    for _ in range(ROUNDS)
                ]
                ratios = sorted(mine / other for other, mine in pairs)
                shown = ", ".join(f"{mine:.0f} / {other:.0f}" for other, mine in pairs)
                print(f"threads {threads}, batch {batch}: {shown}; median ratio {ratios[ROUNDS // 2]:.2f}")


if __name__ == "__main__":
    main()
