//! A deterministic random generator (SplitMix64).

use money::Nano;
use uuid::Uuid;

#[derive(Debug)]
pub(crate) struct SplitMixRandom {
    state: u64,
}

impl SplitMixRandom {
    pub(crate) fn new(seed: u64) -> SplitMixRandom {
        SplitMixRandom { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub(crate) fn nano(&mut self, least: i64, most: i64) -> Nano {
        let span = (most - least + 1).cast_unsigned();
        Nano::from_nanos(least + (self.next() % span).cast_signed())
    }

    /// A version 4 id, so that no creation time is read from it.
    pub(crate) fn uuid(&mut self) -> Uuid {
        let bits = Uuid::from_u64_pair(self.next(), self.next());
        uuid::Builder::from_random_bytes(bits.into_bytes()).into_uuid()
    }

    pub(crate) fn pick<T: Clone>(&mut self, items: &[T]) -> Option<T> {
        if items.is_empty() {
            return None;
        }
        let index = self.below(items.len());
        Some(items[index].clone())
    }
}
