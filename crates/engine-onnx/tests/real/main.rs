//! The engine with real weights, which `TOLLGATE_TEST_MODELS` names the folder of.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod embedding;
mod models;
mod pictor;
mod round_trip;
mod speech;
mod transcription;
