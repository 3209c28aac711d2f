"""Checks the linearizability of concurrent operations against a sequential model of one account.

The method is that of Wing and Gong, as in Porcupine: a history is correct if its operations can be put in an
order that the sequential model allows and in which no operation precedes one that had ended when it began. An
operation without a response may have happened or not: it is in the order if it did. Amounts are integers, in
nano-dollars.

Running requests hold money, so a response may be reduced by the holds of others: a balance may be lower by at
most the cost of all concurrent requests, and a request may be refused for the same amount.
"""

import bisect
import dataclasses
import functools
import itertools
import math
import threading
import time

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
# A charge without a response for this long may be refunded by the service: its outcome was unknown to it too.
REFUNDED_AFTER_SECONDS = 15
# Bounds of one search. It takes about as many steps as the history has operations.
STEPS_MAX = 20_000
SEARCH_SECONDS_MAX = 120


@dataclasses.dataclass
class Operation:
    """One call with its start, end and outcome."""

    kind: str  # "charge", "credit", "read", or "refund" of a charge without a response
    begun: float
    ended: float
    outcome: str
    amount: int = 0  # The cost, the credit, or the balance in the response.
    key: str = ""  # The API key of a charge, if it has a limit.
    name: str = ""  # The idempotency key of a charge, if it has one.
    is_replay: bool = False  # True if the response is a replay of an earlier charge.


@dataclasses.dataclass(frozen=True)
class State:
    balance: int
    spent: tuple = ()  # Spend of each key with a limit, as sorted pairs.
    done: frozenset = frozenset()  # Idempotency keys that were charged.
    refundable: int = 0  # Charged by requests that failed after a long time, and not refunded.


class Undecided(Exception):
    """The search ended without a result."""


@dataclasses.dataclass(frozen=True)
class Beside:
    """The charges concurrent with an operation, as bits: all, and those of its key."""

    charges: int
    of_key: int


class Neighbours:
    """Finds the charges concurrent with an operation, as sets of bits, and sums their amounts."""

    def __init__(self, operations):
        """The operations are sorted by their start."""
        self.operations = operations
        self.starts = [it.begun for it in operations]
        by_end = sorted(range(len(operations)), key=lambda index: operations[index].ended)
        self.ends = [operations[index].ended for index in by_end]
        # The operations that ended first: none, one, two, and so on.
        self.ended_first = [0, *itertools.accumulate((1 << index for index in by_end), int.__or__)]
        self.charges_of_key, self.operations_of_amount = {}, {}
        for index, operation in enumerate(operations):
            if operation.kind == "charge":
                of_key = self.charges_of_key.get(operation.key, 0)
                self.charges_of_key[operation.key] = of_key | 1 << index
                of_amount = self.operations_of_amount.get(operation.amount, 0)
                self.operations_of_amount[operation.amount] = of_amount | 1 << index
        self.charges = functools.reduce(int.__or__, self.charges_of_key.values(), 0)
        self.beside = [self.find_beside(index) for index in range(len(operations))]

    def find_beside(self, index):
        one = self.operations[index]
        begun = (1 << bisect.bisect_left(self.starts, one.ended)) - 1
        ended = self.ended_first[bisect.bisect_right(self.ends, one.begun)]
        near = begun & ~ended & ~(1 << index)
        return Beside(near & self.charges, near & self.charges_of_key.get(one.key, 0))

    def amount_of(self, charges):
        return sum(amount * (charges & same).bit_count() for amount, same in self.operations_of_amount.items())

    def held(self, index, mask):
        """The most that charges beside an operation may hold: of the account, and of its key. Charges in `mask`
        are paid and no longer held."""
        near = self.beside[index]
        return self.amount_of(near.charges & ~mask), self.amount_of(near.of_key & ~mask)


def next_states(operation, state, held, limits):
    """The states that the model allows after an operation with this outcome, or after one without a response; empty
    if it is not allowed. `held` is the most that concurrent charges may hold: of the account, and of its key."""
    amount, outcome = operation.amount, operation.outcome
    if operation.kind == "credit":
        return [dataclasses.replace(state, balance=state.balance + amount)]
    if operation.kind == "refund":
        if state.refundable < amount:
            return []
        return [dataclasses.replace(state, balance=state.balance + amount, refundable=state.refundable - amount)]
    if operation.kind == "read":
        if outcome == UNKNOWN:
            return []
        return [state] if state.balance - held[0] <= amount <= state.balance else []
    spent = dict(state.spent)
    limit = limits.get(operation.key)
    key_spent = spent.get(operation.key, 0)
    if operation.name and operation.name in state.done:
        # Already charged: the response must be a replay.
        return [state] if outcome == OK and operation.is_replay else []
    if outcome == REFUSED:
        lacks_money = state.balance - held[0] < amount
        is_limited = limit is not None and limit < key_spent + held[1] + amount
        return [state] if lacks_money or is_limited else []
    if outcome == OK and operation.is_replay:
        return []
    if state.balance < amount or (limit is not None and limit < key_spent + amount):
        return []
    if limit is not None:
        spent[operation.key] = key_spent + amount
    done = state.done | {operation.name} if operation.name else state.done
    refundable = state.refundable + (amount if is_refundable(operation) else 0)
    return [State(state.balance - amount, tuple(sorted(spent.items())), done, refundable)]


def is_refundable(operation):
    is_lost = operation.kind == "charge" and operation.outcome == UNKNOWN and not operation.name
    return is_lost and REFUNDED_AFTER_SECONDS < operation.ended - operation.begun


def with_refunds(operations):
    """The history with an optional refund for each charge that may have one."""
    lost = [it for it in operations if is_refundable(it)]
    refunds = [dataclasses.replace(it, kind="refund", begun=it.begun + REFUNDED_AFTER_SECONDS) for it in lost]
    return sorted(operations + refunds, key=lambda it: (it.begun, it.ended))


def simplified(operations):
    """The same history with fewer choices. All attempts under a name that was never confirmed as charged become
    one charge that may have happened."""
    answered = {it.name for it in operations if it.name and it.outcome == OK}
    kept, nameless = [], {}
    for operation in operations:
        if operation.outcome == UNKNOWN and operation.name and operation.name not in answered:
            first = nameless.setdefault(operation.name, dataclasses.replace(operation, name=""))
            first.begun, first.ended = min(first.begun, operation.begun), max(first.ended, operation.ended)
        else:
            kept.append(operation)
    return sorted(kept + list(nameless.values()), key=lambda it: (it.begun, it.ended))


def check(operations, balance, limits=None, steps_max=STEPS_MAX):
    """True if a history of one account with this initial balance is linearizable. `limits` are those of keys."""
    limits = limits or {}
    operations = with_refunds(simplified(operations))
    neighbours = Neighbours(operations)
    # Operations without a response need not have happened.
    answered = sum(1 << index for index, it in enumerate(operations) if it.outcome != UNKNOWN)
    stack, seen, steps, begun = [(0, State(balance))], set(), 0, time.monotonic()
    while stack:
        mask, state = stack.pop()
        if mask & answered == answered:
            return True
        if (mask, state) in seen:
            continue
        seen.add((mask, state))
        steps += 1
        if steps_max < steps or SEARCH_SECONDS_MAX < time.monotonic() - begun:
            raise Undecided(f"{len(operations)} operations, {steps} steps")
        stack.extend(reversed(successors(operations, neighbours, mask, state, limits)))
    return False


def successors(operations, neighbours, mask, state, limits):
    """The possible next operations, most likely first: those with a response before the others."""
    earliest_end = math.inf
    found, lost = [], []
    alike = set()
    for index in range((mask ^ (mask + 1)).bit_length() - 1, len(operations)):
        if mask >> index & 1:
            continue
        operation = operations[index]
        # All later ones began after an operation ended that is not in the order yet.
        if earliest_end < operation.begun:
            break
        if operation.outcome == UNKNOWN:
            # Of operations that differ only in their start, only the first is tried.
            twin = (operation.kind, operation.amount, operation.key, operation.name)
            if twin in alike:
                continue
            alike.add(twin)
        else:
            earliest_end = min(earliest_end, operation.ended)
        after = next_states(operation, state, neighbours.held(index, mask), limits)
        into = lost if operation.outcome == UNKNOWN else found
        into.extend((mask | 1 << index, state) for state in after)
    return found + lost


def adds_up(operations, start, end):
    """True if the final balance is possible by counting alone: confirmed operations happened once, and
    those without a response at most once. A weaker but fast check."""

    def is_charged(operation):
        return operation.kind == "charge" and operation.outcome == OK and not operation.is_replay

    operations = simplified(operations)
    sure = sum(it.amount for it in operations if it.kind == "credit" and it.outcome == OK)
    sure -= sum(it.amount for it in operations if is_charged(it))
    # A replayed name was charged by an attempt without a response.
    replays = {it.name for it in operations if it.is_replay} - {it.name for it in operations if is_charged(it)}
    sure -= sum(next(it.amount for it in operations if it.name == name) for name in replays)
    possible = {start + sure}
    for operation in operations:
        if operation.outcome == UNKNOWN and operation.kind != "read" and not operation.name:
            change = operation.amount if operation.kind == "credit" else -operation.amount
            possible |= {balance + change for balance in possible}
    return end in possible


class Recorder:
    """Records the operations of client threads, by account."""

    def __init__(self):
        self.lock = threading.Lock()
        self.operations = {}

    def record(self, account, kind, work, **details):
        """Runs `work`, which returns an outcome with details, and records its start and end. A lost response
        is an outcome as well."""
        begun = time.monotonic()
        try:
            outcome, known = work()
        except OSError:
            outcome, known = UNKNOWN, {}
        operation = Operation(kind, begun, time.monotonic(), outcome, **{**details, **known})
        with self.lock:
            self.operations.setdefault(account, []).append(operation)
        return operation

    def take(self):
        """Returns the histories so far; nothing may be running. Operations without a response may have happened at
        any time until now."""
        with self.lock:
            taken, self.operations = self.operations, {}
        now = time.monotonic()
        for operations in taken.values():
            for operation in operations:
                if operation.outcome == UNKNOWN:
                    operation.ended = now
        return taken
