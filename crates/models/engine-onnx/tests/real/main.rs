//! Tests with real weights, in the folder named by `TOLLGATE_TEST_MODELS`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests end at the first surprise")]

mod embedding;
mod models;
mod pictor;
mod round_trip;
mod speech;
mod tools;
mod transcription;

/// True if the CPU sums products of bytes exactly. Without VNNI the runtime sums them in 16 bits,
/// which overflow: quantised models then give slightly different results.
fn sums_are_exact() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512vnni") || is_x86_feature_detected!("avxvnni");
    #[cfg(not(target_arch = "x86_64"))]
    true
}
