"""Writes the licences of all packages into a folder: a table, and each distinct text once.

Reads the output of `cargo metadata` from standard input.
"""

import hashlib
import json
import pathlib
import sys

TEXTS = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")


def main() -> None:
    folder = pathlib.Path(sys.argv[1])
    packages = [it for it in json.load(sys.stdin)["packages"] if it["source"]]
    rows = []
    for package in sorted(packages, key=lambda it: (it["name"], it["version"])):
        home = pathlib.Path(package["manifest_path"]).parent
        names = []
        for text in sorted(home.iterdir()):
            if not text.is_file() or not text.name.upper().startswith(TEXTS):
                continue
            content = text.read_bytes()
            name = hashlib.sha256(content).hexdigest()[:12] + ".txt"
            (folder / name).write_bytes(content)
            names.append(name)
        licence = package["license"] or "see its text"
        rows.append(f"{package['name']} {package['version']}: {licence} {' '.join(names)}".rstrip())
    (folder / "packages.txt").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
