"""Tests of the ledger under power loss, disk errors and clock jumps."""
