"""Packs the output of make_dataset.py for prep.py: data.jsonl.xz without the sets that only the autoencoder used, and webp/."""

import json
import lzma
import os
import shutil

AUTOENCODER_ONLY_SETS = set(
    "streamline-sharp-color icon-park-twotone solar healthicons pepicons-print streamline-ultimate maki temaki iconoir hugeicons covid".split()
)
WEBP_SOURCE = "npm/_lobehub_fluent-emoji-3d/package/assets/"


def main():
    """Reads data.jsonl and writes data.jsonl.xz, sorted by set, which compresses better."""
    os.makedirs("webp", exist_ok=True)
    with open("data.jsonl") as source:
        drawings = [json.loads(line) for line in source]
    drawings = [drawing for drawing in drawings if drawing["set"] not in AUTOENCODER_ONLY_SETS]
    drawings.sort(key=lambda drawing: drawing["set"])
    with lzma.open("data.jsonl.xz", "wt", preset=9) as packed:
        for drawing in drawings:
            if drawing.get("webp"):
                shutil.copy(WEBP_SOURCE + drawing["webp"], "webp/")
            packed.write(json.dumps(drawing, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(len(drawings), "drawings")


if __name__ == "__main__":
    main()
