"""A schemathesis hook: each request uses another key and address.

Rate limits count by account or by address, and schemathesis is faster than any of them. So requests
rotate through many accounts and addresses.
"""

import itertools
import os

import schemathesis

KEYS = os.environ["TOLLGATE_E2E_KEYS"].split(",")
turns = itertools.count()


@schemathesis.hook
def before_call(_, case, **__):
    turn = next(turns)
    case.headers["Authorization"] = f"Bearer {KEYS[turn % len(KEYS)]}"
    case.headers["X-Forwarded-For"] = f"10.{turn >> 16 & 255}.{turn >> 8 & 255}.{turn & 255}"
