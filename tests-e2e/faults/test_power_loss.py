"""Tests repeated power loss under load: no acknowledged data is lost or duplicated."""

import os
import unittest

import test_crashes

from faults.layer import PowerCut

CUTS = int(os.environ.get("POWER_CUTS", "10"))


class PowerLoss(test_crashes.Books, unittest.TestCase):
    """The same clients as in test_crashes, but unsynced writes are lost with the process."""

    def setUp(self):
        self.open(PowerCut)

    def test_power_cuts_lose_nothing_that_was_acknowledged(self):
        callers = self.crash_under(test_crashes.Chatter, CUTS, self.server.cut_power)
        paid = {request: cost for caller in callers for request, cost in caller.told.items()}
        with self.subTest(CRASH_SEED=self.seed):
            charged = self.check_books()
            self.assertGreater(len(paid), CUTS, "the callers hardly got through")
            for request, cost in paid.items():
                self.assertIn(request, charged, f"{request} was acknowledged and lost")
                self.assertEqual(sum(charged[request].values()), cost)
        print(f"{CUTS} power cuts, {len(paid)} acknowledged, {len(charged)} charged")

    def test_the_layer_does_drop_what_was_not_synced(self):
        """Checks that the fault layer works; otherwise the test above would prove nothing."""
        path = os.path.join(self.server.data, "unsynced")
        with open(path, "wb") as file:
            file.write(b"gone")
        self.assertIn("unsynced", self.server.cut_power())
        self.server.start_again()
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()
