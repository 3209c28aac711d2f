"""Histories of what many callers did and were told, checked against a sequential model of one account.

The method is that of Wing and Gong, as in Porcupine: a history is right if its operations can be put in an
order that the sequential model allows and in which none comes before one that had ended when it began. An
operation whose answer was lost may have happened or not: it is in the order if it did. Amounts are integers, in nano-dollars.

Money is held while work is under way, so what a caller is told meanwhile may lack what others hold: a balance
may be lower by at most the cost of all work beside it, and work may be refused for as much.
"""

import dataclasses
import threading
import time

OK, REFUSED, UNKNOWN = "ok", "refused", "unknown"
# Steps of one search: histories of some hundred operations take about as many.
STEPS_MAX = 20_000


@dataclasses.dataclass
class Operation:
    """One call, when it began and ended, and how."""

    kind: str  # "charge", "credit" or "read"
    begun: float
    ended: float
    outcome: str
    amount: int = 0  # The cost, the credit, or the balance that was told.
    key: str = ""  # The API key of a charge, if it has a limit.
    name: str = ""  # The idempotency key of a charge, if it has one.
    is_replay: bool = False  # Whether the answer says that the charge was made before.


@dataclasses.dataclass(frozen=True)
class State:
    balance: int
    spent: tuple = ()  # What each key with a limit has spent, as sorted pairs.
    done: frozenset = frozenset()  # The idempotency keys that were charged.


class Undecided(Exception):
    """The search took too long to say anything."""


@dataclasses.dataclass(frozen=True)
class Beside:
    """The charges that are under way at some moment of an operation, as bits; all, and those of its key."""

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
    """The states that the model allows after an operation that is told to have ended so, or that happened though
    nobody was told; none if it may not have. `held` is what others may hold beside it: of the account, and of its key."""
    amount, outcome = operation.amount, operation.outcome
    if operation.kind == "credit":
        return [dataclasses.replace(state, balance=state.balance + amount)]
    if operation.kind == "read":
        if outcome == UNKNOWN:
            return []
        return [state] if state.balance - held[0] <= amount <= state.balance else []
    spent = dict(state.spent)
    limit = limits.get(operation.key)
    key_spent = spent.get(operation.key, 0)
    if operation.name and operation.name in state.done:
        # It was charged before, and says so.
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
    return [State(state.balance - amount, tuple(sorted(spent.items())), done)]


def simplified(operations):
    """The same history with fewer choices. Attempts under a name that was never charged are together one charge
    that may have happened, whatever its name is."""
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
    """Whether a history of one account, which began with a balance, can be explained. `limits` are those of keys."""
    limits = limits or {}
    operations = simplified(operations)
    neighbours = [beside(operations, index) for index in range(len(operations))]
    # What was not answered need not have happened.
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
    """What may come next, most likely first: what was answered before what was not."""
    left = [index for index in range(len(operations)) if not mask >> index & 1]
    earliest_end = min(operations[index].ended for index in left if operations[index].outcome != UNKNOWN)
    found, lost = [], []
    alike = set()
    for index in left:
        operation = operations[index]
        if earliest_end < operation.begun:
            break
        if operation.outcome == UNKNOWN:
            # Of those that differ in nothing but when they began, the first stands for all.
            twin = (operation.kind, operation.amount, operation.key, operation.name)
            if twin in alike:
                continue
            alike.add(twin)
        # What has happened in this order is paid, and held no more.
        near = neighbours[index]
        held = (amount_of(operations, near.charges & ~mask), amount_of(operations, near.of_key & ~mask))
        after = next_states(operation, state, held, limits)
        into = lost if operation.outcome == UNKNOWN else found
        into.extend((mask | 1 << index, state) for state in after)
    return found + lost


def adds_up(operations, start, end):
    """Whether a balance at the end can be explained by counting alone: what was answered has happened once, and
    what was not answered at most once. It says less than `check`, and takes no time."""
    operations = simplified(operations)
    is_charged = lambda it: it.kind == "charge" and it.outcome == OK and not it.is_replay
    sure = sum(it.amount for it in operations if it.kind == "credit" and it.outcome == OK)
    sure -= sum(it.amount for it in operations if is_charged(it))
    # A name that was answered as charged before was charged by an attempt that was not answered.
    replays = {it.name for it in operations if it.is_replay} - {it.name for it in operations if is_charged(it)}
    sure -= sum(next(it.amount for it in operations if it.name == name) for name in replays)
    possible = {start + sure}
    for operation in operations:
        if operation.outcome == UNKNOWN and operation.kind != "read" and not operation.name:
            change = operation.amount if operation.kind == "credit" else -operation.amount
            possible |= {balance + change for balance in possible}
    return end in possible


class Recorder:
    """What callers did, by account. Callers are threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.operations = {}

    def record(self, account, kind, work, **details):
        """Runs `work`, which returns an outcome and what else is known of it, and notes when it ran. A failure
        to answer is an outcome as well."""
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
        """The histories so far, now that nothing is under way. What was not answered may have happened at any
        moment up to this one."""
        with self.lock:
            taken, self.operations = self.operations, {}
        now = time.monotonic()
        for operations in taken.values():
            for operation in operations:
                if operation.outcome == UNKNOWN:
                    operation.ended = now
        return taken
