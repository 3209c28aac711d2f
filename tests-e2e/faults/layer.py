"""Runs a service with the fault layer: `layer.c`, compiled once for all tests."""

import os
import shutil
import subprocess
import tempfile

from server import Server

HERE = os.path.dirname(os.path.abspath(__file__))
_built = None


def library():
    """The path of the compiled layer."""
    global _built
    if _built is None:
        folder = tempfile.mkdtemp(prefix="tollgate-faults-")
        _built = os.path.join(folder, "layer.so")
        source = os.path.join(HERE, "layer.c")
        line = ["cc", "-O1", "-shared", "-fPIC", "-Wall", "-o", _built, source, "-ldl"]
        subprocess.run(line, check=True, capture_output=True)
    return _built


class Faulty(Server):
    """A server whose disk and clock the test controls. Commands run with the same layer."""

    settings = {}

    def __enter__(self):
        library()
        return super().__enter__()

    @property
    def data(self):
        return os.path.realpath(os.path.join(self.folder, "data"))

    def _environment(self):
        places = {
            "LD_PRELOAD": library(),
            "FAULT_DIR": self.data,
            "FAULT_CLOCK": os.path.join(self.folder, "clock"),
        }
        return {**super()._environment(), **places, **self.settings}

    def set_clock(self, seconds):
        """Sets the error of the wall clock."""
        name = os.path.join(self.folder, "clock")
        with open(f"{name}.new", "w", encoding="utf-8") as file:
            file.write(str(int(seconds)))
        os.rename(f"{name}.new", name)


class PowerCut(Faulty):
    """A server that can lose power, which discards all writes that were not synced."""

    def _start(self):
        self.shadow = os.path.join(self.folder, "shadow")
        os.makedirs(self.shadow, exist_ok=True)
        self.settings = {"FAULT_SHADOW": self.shadow}
        super()._start()

    def cut_power(self):
        """Kills the service and keeps only the synced data."""
        self.kill()
        names = {}
        with open(os.path.join(self.shadow, "names"), encoding="utf-8") as file:
            for line in file:
                number, name = line.rstrip("\n").split(" ", 1)
                names[name] = number
        lost = sorted(set(os.listdir(self.data)) - set(names))
        shutil.rmtree(self.data)
        os.mkdir(self.data, 0o700)
        for name, number in names.items():
            # SQLite recreates its shared memory, and the lock file has no content.
            kept = os.path.join(self.shadow, number)
            if name.endswith("-shm") or not os.path.exists(kept):
                continue
            shutil.copyfile(kept, os.path.join(self.data, name))
        shutil.rmtree(self.shadow)
        os.mkdir(self.shadow)
        self._note_what_is_there()
        return lost

    def _note_what_is_there(self):
        """Records all files as synced, after a power cut."""
        with open(os.path.join(self.shadow, "names"), "w", encoding="utf-8") as names:
            for entry in os.scandir(self.data):
                if not entry.is_file():
                    continue
                shutil.copyfile(entry.path, os.path.join(self.shadow, str(entry.inode())))
                names.write(f"{entry.inode()} {entry.name}\n")
