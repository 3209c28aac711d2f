//! Tests of `tollgate engine`: a process that serves on a socket and ends with its parent.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod answers;
mod files;
mod harness;
mod hostile;
mod memory;
mod pictures;
mod videos;
