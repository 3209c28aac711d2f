//! Tests with a real small model, SmolLM2-135M-Instruct, in the folder TOLLGATE_TEST_MODELS.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod answers;
mod cache;
mod constraints;
mod equal;
mod harness;
mod limits;
mod parallel;
