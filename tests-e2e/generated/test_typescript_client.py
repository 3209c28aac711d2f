"""Tests a client with the types of openapi-typescript: it compiles in strict mode, and its calls work."""

import json
import os
import pathlib
import shutil
import subprocess
import unittest

from generated.service import GENERATE_SECONDS_MAX, GeneratedCase

HERE = pathlib.Path(__file__).parent
MODULES = HERE.parent / "node_modules"
# A field with a default may be left out of a request; without the flag its type says otherwise.
KEEPS_OPTIONAL = "--default-non-nullable=false"
STRICT = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--types", "node"]


class TypescriptClient(GeneratedCase):
    def test_it_compiles_and_its_calls_are_answered(self):
        generator = MODULES / "openapi-typescript/bin/cli.js"
        self.run_tool("node", generator, self.document, "-o", "schema.ts", KEEPS_OPTIONAL)
        shutil.copy(HERE / "client.ts", self.folder / "client.ts")
        (self.folder / "package.json").write_text('{"type": "module"}')
        (self.folder / "node_modules").symlink_to(MODULES)
        self.run_tool("node", MODULES / "typescript/bin/tsc", *STRICT, "client.ts")
        environment = {**os.environ, "API_URL": self.server.api, "API_KEY": self.key}
        run = subprocess.run(
            ["node", "client.js"],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=GENERATE_SECONDS_MAX,
        )
        self.assertEqual(run.returncode, 0, run.stderr)
        told = json.loads(run.stdout)
        self.assertEqual((told["context"], told["status"]), (8192, 400))
        self.assertTrue(told["said"])


if __name__ == "__main__":
    unittest.main()
