"""Checks the linearizability of concurrent operations against a sequential model of one account.

The method is that of Wing and Gong, as in Porcupine: a history is correct if its operations can be put in an
order that the sequential model allows and in which no operation precedes one that had ended when it began. An
operation without a response may have happened or not: it is in the order if it did. Amounts are integers, in
nano-dollars.

Running requests hold money, so a response may be reduced by the holds of others: a balance may be lower by at
most the cost of all concurrent requests, and a request may be refused for the same amount.
"""

import dataclasses
import threading
import time

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
# A charge without a response for this long may be refunded by the service: its outcome was unknown to it too.
REFUNDED_AFTER_SECONDS = 15
# Maximum steps of one search: histories of some hundred operations need about as many.
STEPS_MAX = 20_000


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


def beside(operations, index):
    one = operations[index]
    charges = of_key = 0
    for place, other in enumerate(operations):
        is_beside = other.begun < one.ended and one.begun < other.ended
        if place != index and other.kind == "charge" and is_beside:
            charges |= 1 << place
            of_key |= (other.key == one.key) << place
    return Beside(charges, of_key)


def amount_of(operations, places):
    total = 0
    while places:
        lowest = places & -places
        total += operations[lowest.bit_length() - 1].amount
        places ^= lowest
    return total


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
    neighbours = [beside(operations, index) for index in range(len(operations))]
    # Operations without a response need not have happened.
    answered = sum(1 << index for index, it in enumerate(operations) if it.outcome != UNKNOWN)
    stack, seen, steps = [(0, State(balance))], set(), 0
    while stack:
        mask, state = stack.pop()
        if mask & answered == answered:
            return True
        if (mask, state) in seen:
            continue
        seen.add((mask, state))
        steps += 1
        if steps_max < steps:
            raise Undecided(f"{len(operations)} operations, {steps} steps")
        stack.extend(reversed(successors(operations, neighbours, mask, state, limits)))
    return False


def successors(operations, neighbours, mask, state, limits):
    """The possible next operations, most likely first: those with a response before the others."""
    left = [index for index in range(len(operations)) if not mask >> index & 1]
    earliest_end = min(operations[index].ended for index in left if operations[index].outcome != UNKNOWN)
    found, lost = [], []
    alike = set()
    for index in left:
        operation = operations[index]
        if earliest_end < operation.begun:
            break
        if operation.outcome == UNKNOWN:
            # Of operations that differ only in their start, only the first is tried.
            twin = (operation.kind, operation.amount, operation.key, operation.name)
            if twin in alike:
                continue
            alike.add(twin)
        # Charges that already happened in this order are paid and no longer held.
        near = neighbours[index]
        held = (amount_of(operations, near.charges & ~mask), amount_of(operations, near.of_key & ~mask))
        after = next_states(operation, state, held, limits)
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
