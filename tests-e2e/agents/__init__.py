"""Tests of unmodified coding agents from npm: Claude Code, Codex and opencode, with a scripted upstream."""
