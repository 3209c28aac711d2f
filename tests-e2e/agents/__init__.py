"""Tests of unmodified coding agents from npm: Claude Code, Codex and opencode, with a scripted upstream.

Alone: `TOLLGATE=target/debug/gateway tests-e2e/.venv/bin/python tests-e2e/run.py agents`.
"""
