//! Deterministic randomness.

use std::sync::atomic::{AtomicU64, Ordering};

use domain::entropy::EntropySource;

/// SplitMix64: the same seed gives the same bytes, so that a failing run can be repeated.
#[derive(Debug)]
pub struct SplitMixEntropy {
    state: AtomicU64,
}

impl SplitMixEntropy {
    pub fn new(seed: u64) -> SplitMixEntropy {
        SplitMixEntropy { state: AtomicU64::new(seed) }
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl EntropySource for SplitMixEntropy {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let random = self.next().to_le_bytes();
            chunk.copy_from_slice(&random[..chunk.len()]);
        }
    }
}
