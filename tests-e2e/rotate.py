"""A schemathesis hook: each request comes from another caller.

Rate limits count by account or by address, and a tester goes faster than any of them. So requests
take turns through many accounts and many addresses.
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
