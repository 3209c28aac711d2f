//! `tollgate engine` as its parent sees it: a process that answers on a socket and goes with it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod answers;
mod files;
mod harness;
mod hostile;
mod memory;
mod pictures;
mod videos;
