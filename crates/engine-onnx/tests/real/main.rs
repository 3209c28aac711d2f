//! The engine with real weights, which `TOLLGATE_TEST_MODELS` names the folder of.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod embedding;
mod models;
mod pictor;
mod round_trip;
mod speech;
mod tools;
mod transcription;

/// Whether this processor adds up products of bytes exactly. Without VNNI the runtime adds them in
/// 16 bits, which overflow: quantised models still say and hear nearly the same, not the same.
fn sums_are_exact() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    true
}
