#!/bin/sh
# The compiler of the workspace's crates in `make test`: clippy's driver is rustc with more lints, so one
# pass lints a crate and generates its code. Cargo runs it as RUSTC_WORKSPACE_WRAPPER, with the path of
# rustc and its arguments; packages of others are compiled by rustc itself.
exec clippy-driver "$@" -D warnings
