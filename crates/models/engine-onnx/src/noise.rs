//! Normally distributed noise from a seed, so that output is reproducible.

/// A stream of pseudo-random numbers (SplitMix64).
#[derive(Debug)]
pub(crate) struct NoiseGenerator(u64);

impl NoiseGenerator {
    pub(crate) fn new(seed: u64) -> NoiseGenerator {
        NoiseGenerator(seed)
    }

    /// Two independent values of mean 0 and variance 1 (Box–Muller).
    pub(crate) fn normal_pair(&mut self) -> (f32, f32) {
        let radius = (-2.0 * self.next_fraction().ln()).sqrt();
        let angle = std::f32::consts::TAU * self.next_fraction();
        (radius * angle.cos(), radius * angle.sin())
    }

    /// Above 0 and at most 1.
    fn next_fraction(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        #[expect(clippy::cast_precision_loss, reason = "24 bits fit")]
        let fraction = ((mixed >> 40) + 1) as f32 / (1u64 << 24) as f32;
        fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_is_normal_and_repeats() {
        let draw = || {
            let mut noise = NoiseGenerator::new(7);
            (0..50_000).flat_map(|_| <[f32; 2]>::from(noise.normal_pair())).collect::<Vec<f32>>()
        };
        let drawn = draw();
        let mean = drawn.iter().sum::<f32>() / drawn.len() as f32;
        let variance = drawn.iter().map(|it| it * it).sum::<f32>() / drawn.len() as f32;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        assert!(drawn == draw());
    }
}
