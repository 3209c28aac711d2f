//! Seeded pseudo-random choices.

/// SplitMix64: small, fast, and good enough to select notes.
#[derive(Debug, Clone)]
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// `purpose` gives each part of a piece its own sequence, so that a change in one part does not
    /// affect the others.
    pub(crate) fn new(seed: u64, purpose: &str) -> SeededRandom {
        let mut mixed = seed ^ 0x9e37_79b9_7f4a_7c15;
        for byte in purpose.bytes() {
            mixed = (mixed ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        SeededRandom(mixed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to below 1.
    pub(crate) fn next_unit(&mut self) -> f32 {
        let bits = u16::try_from(self.next() >> 48).unwrap_or(0);
        f32::from(bits) / 65_536.0
    }

    /// A number from -1 to 1.
    pub(crate) fn next_noise(&mut self) -> f32 {
        self.next_unit() * 2.0 - 1.0
    }

    pub(crate) fn next_below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound.max(1)).unwrap_or(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    pub(crate) fn chance(&mut self, likelihood: f32) -> bool {
        self.next_unit() < likelihood
    }

    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.next_below(of.len())]
    }
}
