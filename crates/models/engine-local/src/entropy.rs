//! Random numbers for ids and default seeds.

/// Returns 0 if the operating system has no randomness, which does not happen on supported systems.
pub(crate) fn random_number() -> u64 {
    let mut bytes = [0; 8];
    match getrandom::fill(&mut bytes) {
        Ok(()) => u64::from_le_bytes(bytes),
        Err(error) => {
            tracing::warn!("no randomness from the operating system: {error}");
            0
        }
    }
}
