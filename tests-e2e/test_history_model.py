"""Tests that the history checker finds every kind of fault and reports no false ones."""

import random
import unittest

from history import OK, REFUSED, UNKNOWN, Operation, adds_up, check


def charge(begun, ended, outcome=OK, amount=10, **details):
    return Operation("charge", begun, ended, outcome, amount, **details)


def read(begun, ended, amount):
    return Operation("read", begun, ended, OK, amount)


def credit(begun, ended, outcome=OK, amount=100):
    return Operation("credit", begun, ended, outcome, amount)


class Model(unittest.TestCase):
    def right(self, balance, *operations, **options):
        self.assertTrue(check(list(operations), balance, **options))

    def wrong(self, balance, *operations, **options):
        self.assertFalse(check(list(operations), balance, **options))

    def test_what_was_answered_has_happened_before_what_began_later(self):
        self.right(100, charge(0, 1), read(2, 3, 90))
        self.wrong(100, charge(0, 1), read(2, 3, 100))
        self.wrong(100, charge(0, 1), read(2, 3, 80))
        self.wrong(100, read(0, 1, 90), charge(2, 3))

    def test_what_was_not_answered_may_have_happened_or_not_but_once(self):
        for told in (100, 90):
            self.right(100, charge(0, 9, UNKNOWN), read(10, 11, told))
        self.wrong(100, charge(0, 9, UNKNOWN), read(10, 11, 80))
        self.wrong(100, charge(0, 9, UNKNOWN), read(10, 11, 90), read(12, 13, 100))

    def test_a_charge_that_failed_after_a_long_time_may_be_refunded_once(self):
        lost = charge(0, 20, UNKNOWN)
        self.right(100, lost, read(21, 22, 90), read(23, 24, 100))
        self.right(100, lost, read(21, 22, 100))
        self.wrong(100, lost, read(21, 22, 110))
        self.wrong(100, lost, read(21, 22, 90), read(23, 24, 100), read(25, 26, 110))
        self.wrong(100, lost, read(21, 22, 90), read(23, 24, 100), read(25, 26, 90))

    def test_a_read_beside_work_may_lack_what_the_work_holds(self):
        self.right(100, charge(0, 5), read(1, 2, 90), read(3, 4, 100), read(6, 7, 90))
        self.wrong(100, charge(0, 5), read(1, 2, 80))
        self.wrong(100, charge(0, 5), read(1, 2, 110))

    def test_nobody_spends_what_is_not_there_and_nobody_is_refused_what_is(self):
        self.right(15, charge(0, 1), charge(2, 3, REFUSED))
        self.wrong(15, charge(0, 1), charge(2, 3))
        self.wrong(25, charge(0, 1), charge(2, 3, REFUSED))
        self.right(25, charge(0, 5), charge(0, 5), charge(1, 2, REFUSED))
        self.right(5, charge(0, 1, REFUSED), credit(2, 3), charge(4, 5), read(6, 7, 95))

    def test_a_credit_is_neither_lost_nor_doubled(self):
        self.right(0, credit(0, 1), read(2, 3, 100))
        self.wrong(0, credit(0, 1), read(2, 3, 0))
        self.wrong(0, credit(0, 1), read(2, 3, 200))
        self.right(0, credit(0, 9, UNKNOWN), read(10, 11, 100))

    def test_a_name_is_charged_once_however_often_it_is_sent(self):
        twice = [charge(0, 1, name="a"), charge(2, 3, name="a", is_replay=True)]
        self.right(100, *twice, read(4, 5, 90))
        self.wrong(100, *twice, read(4, 5, 80))
        self.wrong(100, charge(0, 1, name="a"), charge(2, 3, name="a"), read(4, 5, 80))
        self.wrong(100, charge(0, 1, name="a", is_replay=True))
        self.right(100, charge(0, 9, UNKNOWN, name="a"), charge(2, 3, name="a", is_replay=True), read(10, 11, 90))
        self.wrong(100, charge(0, 9, UNKNOWN, name="a"), charge(2, 3, name="a", is_replay=True), read(10, 11, 100))

    def test_a_limit_of_a_key_holds_and_is_used_up(self):
        limits = {"k": 15}
        self.right(100, charge(0, 1, key="k"), charge(2, 3, REFUSED, key="k"), charge(4, 5), limits=limits)
        self.wrong(100, charge(0, 1, key="k"), charge(2, 3, key="k"), limits=limits)
        self.wrong(100, charge(0, 1, REFUSED, key="k"), limits=limits)

    def test_counting_alone_finds_what_is_lost_or_doubled(self):
        lost = charge(0, 9, UNKNOWN)
        replayed = [charge(0, 9, UNKNOWN, name="a"), charge(2, 3, name="a", is_replay=True)]
        for operations, ends in (
            ([charge(0, 1), credit(2, 3)], {190}),
            ([charge(0, 1), lost, lost], {90, 80, 70}),
            ([charge(0, 9, UNKNOWN, name="a"), charge(1, 9, UNKNOWN, name="a")], {100, 90}),
            (replayed, {90}),
            ([charge(0, 1, name="a"), charge(2, 3, name="a", is_replay=True)], {90}),
        ):
            self.assertEqual({end for end in range(0, 300, 5) if adds_up(operations, 100, end)}, ends)

    def test_histories_of_the_model_itself_are_right_and_each_change_to_them_is_found(self):
        chance, found = random.Random(7), 0
        for _ in range(60):
            balance, moment, operations = 1000, 0, []
            for _ in range(40):
                begun, moment = moment + chance.random(), moment + 1 + chance.random()
                kind = chance.choice(["charge", "charge", "lost", "credit", "read"])
                if kind == "charge":
                    operations.append(charge(begun, moment))
                    balance -= 10
                elif kind == "lost":
                    operations.append(charge(begun, 1_000, UNKNOWN))
                    balance -= 10 * chance.randrange(2)
                elif kind == "credit":
                    operations.append(credit(begun, moment))
                    balance += 100
                moment += 0.1
            operations.append(read(2_000, 2_001, balance))
            self.assertTrue(check(operations, 1000))
            operations[-1] = read(2_000, 2_001, balance + 5)
            found += not check(operations, 1000)
        self.assertEqual(found, 60)


if __name__ == "__main__":
    unittest.main()
