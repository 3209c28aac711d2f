"""Tests that docs/errors.md lists exactly the error codes and statuses in the code."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent
# Source folders with error codes.
SOURCES = (
    "crates/surface/http-frame/src",
    "crates/surface/api/src",
    "crates/rules/wallet/src",
    "crates/service/payments/src",
)
CODE = re.compile(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"')
# Used in the log only, not an error code.
NO_CODES = {"FAILED_REQUESTS"}
STATUS_NUMBERS = {
    "BAD_REQUEST": 400,
    "UNAUTHORIZED": 401,
    "PAYMENT_REQUIRED": 402,
    "FORBIDDEN": 403,
    "NOT_FOUND": 404,
    "CONFLICT": 409,
    "METHOD_NOT_ALLOWED": 405,
    "NOT_ACCEPTABLE": 406,
    "REQUEST_TIMEOUT": 408,
    "GONE": 410,
    "PAYLOAD_TOO_LARGE": 413,
    "UNSUPPORTED_MEDIA_TYPE": 415,
    "RANGE_NOT_SATISFIABLE": 416,
    "UNPROCESSABLE_ENTITY": 422,
    "UPGRADE_REQUIRED": 426,
    "TOO_MANY_REQUESTS": 429,
    "INTERNAL_SERVER_ERROR": 500,
    "BAD_GATEWAY": 502,
    "SERVICE_UNAVAILABLE": 503,
    "GATEWAY_TIMEOUT": 504,
}


def sources():
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.rs")):
            if "tests" not in path.parts and path.name != "tests.rs":
                # Tests are at the end of a file.
                yield path, path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]


class ErrorsPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = (ROOT / "docs/errors.md").read_text(encoding="utf-8")

    def test_every_code_is_told_and_no_other(self):
        used = {code for _, text in sources() for code in CODE.findall(text)} - NO_CODES
        told = set(re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", self.page))
        self.assertGreater(len(used), 40, "the codes were looked for in the wrong place")
        self.assertEqual(used - told, set(), "docs/errors.md does not tell of these")
        self.assertEqual(told - used, set(), "docs/errors.md tells of these, and nothing refuses with them")

    def test_every_status_is_told(self):
        refusals = [text for path, text in sources() if "refusal" in str(path)]
        used = {name for text in refusals for name in re.findall(r"StatusCode::([A-Z_]+)", text)}
        self.assertGreater(len(used), 12)
        told = {int(number) for number in re.findall(r"^\| (\d{3}) \|", self.page, re.MULTILINE)}
        self.assertEqual({STATUS_NUMBERS[name] for name in used} - told, set())
        self.assertEqual(told - set(STATUS_NUMBERS.values()), set())

    def test_a_lost_answer_between_nodes_is_said_to_be_charged_perhaps(self):
        rows = [row for row in self.page.splitlines() if row.startswith("| 502 |")]
        self.assertTrue(any("nodes" in row and "may have been charged" in row for row in rows), rows)


if __name__ == "__main__":
    unittest.main()
