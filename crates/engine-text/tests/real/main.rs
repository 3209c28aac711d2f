//! A real small model: SmolLM2-135M-Instruct, from the folder that TOLLGATE_TEST_MODELS names.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod answers;
mod cache;
mod constraints;
mod equal;
mod harness;
mod limits;
mod parallel;
