"""Tests of the console with the built-in engine: downloading a model, and images."""

import pathlib
import tempfile

from console.suite import browse

from engine.service import EngineCase
from engine.test_pictures import REFERENCE, is_hole, write

SUITE_SECONDS_MAX = 240
PICTURES_SECONDS_MAX = 480


class Console(EngineCase):
    def test_an_operator_pulls_a_model_and_offers_it(self):
        key = self.server.create_operator_key()
        browse(self, self.server, "weights.test.mjs", SUITE_SECONDS_MAX, OPERATOR_KEY=key)

    def test_pictures_are_enlarged_cut_out_and_erased_from(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        mask = folder / "mask.png"
        mask.write_bytes(write(256, 256, lambda x, y: (0, 0, 0, 0 if is_hole(x, y) else 255)))
        files = {"PICTURE": REFERENCE / "tools-rocket.png", "MASK": mask}
        key = self.server.create_key("admin")
        browse(self, self.server, "pictures.test.mjs", PICTURES_SECONDS_MAX, ADMIN_KEY=key, **files)
