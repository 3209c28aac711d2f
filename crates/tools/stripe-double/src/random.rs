//! Random numbers from a seed (SplitMix64), so that a run can be repeated.

#[derive(Debug, Clone)]
pub struct DoubleRandom {
    state: u64,
}

impl DoubleRandom {
    pub fn new(seed: u64) -> DoubleRandom {
        DoubleRandom { state: seed }
    }

    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`; zero if that is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX);
        usize::try_from(self.draw().checked_rem(bound).unwrap_or(0)).unwrap_or(0)
    }

    /// True with a probability of `percent`.
    pub fn chance(&mut self, percent: u8) -> bool {
        self.below(100) < usize::from(percent)
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
