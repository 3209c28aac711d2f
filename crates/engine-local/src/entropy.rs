//! Random numbers for ids, and for seeds that no caller chose.

/// The operating system's randomness does not run dry on any system this runs on.
pub(crate) fn number() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(error) => {
            tracing::warn!("no randomness from the operating system: {error}");
            0
        }
    }
}
