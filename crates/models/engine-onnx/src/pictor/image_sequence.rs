//! Sequences of images that change into each other, for videos.
//!
//! Each prompt has its own image, drawn from the same noise; the first may be given instead. Along
//! the sequence these images are interpolated, mixed with slowly rotating noise, and denoised
//! towards the interpolated prompts. So neighbouring images are similar but never identical.

use super::flow::{FlowSchedule, GuidedFlow, latent_of, patches_of};
use super::prompt::PromptCondition;
use super::{GUIDANCE_DEFAULT, PIXELS_SIDE, PictorError, PictorModel, generate_noise};

pub const PROMPTS_MAX: usize = 4;

/// Steps for the image of each prompt.
const STEPS_FULL: u32 = 8;
/// Steps for each image of the sequence, which starts from partial noise.
const STEPS_SHORT: u32 = 8;
/// Share of noise: enough for changes, too little to lose the image.
const STRENGTH: f32 = 0.62;
/// Maximum share of noise with a given image, which must stay recognisable to the end.
const STRENGTH_GIVEN: f32 = 0.4;
/// Images over which the share of noise rises from 0 after a given image.
const GIVEN_RISE: usize = 8;
/// Share of noise midway between two prompts: higher, so that the images do not just overlap.
const STRENGTH_BETWEEN: f32 = 0.9;
/// Rotation of the noise between two images, in radians.
const TURN: f32 = 0.2;
/// Fraction of the way between two prompts, at both ends, without interpolation.
const REST: f32 = 0.25;

/// Parameters of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageSequence<'a> {
    /// The prompts, in order.
    pub prompts: &'a [String],
    pub negative_prompt: &'a str,
    /// The same seed gives the same sequence.
    pub seed: u64,
    /// Number of images, equally spaced.
    pub pictures: usize,
    /// The first image: RGB bytes of [`PIXELS_SIDE`]² pixels.
    pub start: Option<&'a [u8]>,
}

/// An image before decoding.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageLatent(Vec<f32>);

impl ImageLatent {
    /// Interpolates between this latent (`part` 0) and another (1).
    pub fn interpolate(&self, other: &ImageLatent, part: f32) -> ImageLatent {
        ImageLatent(interpolate_values(&self.0, &other.0, part))
    }
}

impl PictorModel {
    /// Draws the images of a sequence. `is_wanted` is called before each step, and `drawn` after
    /// each image. The model is locked per image, so other callers can draw in between.
    pub fn paint_sequence(
        &self,
        walk: &ImageSequence<'_>,
        is_wanted: &dyn Fn() -> bool,
        mut drawn: impl FnMut(),
    ) -> Result<Vec<ImageLatent>, PictorError> {
        if !(1..=PROMPTS_MAX).contains(&walk.prompts.len()) || walk.pictures == 0 {
            return Err(PictorError::Walk);
        }
        if walk.start.is_some_and(|rgb| rgb.len() != 3 * PIXELS_SIDE * PIXELS_SIDE) {
            return Err(PictorError::Start);
        }
        let scenes = self.paint_prompt_images(walk, is_wanted)?;
        let other = self.lock_sessions().reader.encode_prompt(walk.negative_prompt)?;
        let turning = [1, 2].map(|number| patches_of(&generate_noise(seed_of(walk.seed, number))));
        let mut pictures = Vec::with_capacity(walk.pictures);
        for number in 0..walk.pictures {
            let place = SequencePosition::of_image(walk, number);
            let strength = place.noise_strength(walk.start.map(|_| number));
            let angle = TURN * number as f32;
            let mut from = place.interpolated_patches(&scenes);
            for ((at, cosine), sine) in from.iter_mut().zip(&turning[0]).zip(&turning[1]) {
                let unclear = angle.cos() * cosine + angle.sin() * sine;
                *at = (1.0 - strength) * *at + strength * unclear;
            }
            let mut flow = GuidedFlow {
                towards: place.weighted_prompts(&scenes),
                other: other.clone(),
                guidance: GUIDANCE_DEFAULT,
            };
            // Without noise there is nothing to denoise.
            let steps = if 0.0 < strength { STEPS_SHORT } else { 0 };
            let schedule = FlowSchedule { start: strength, steps };
            let generator = &mut self.lock_sessions().generator;
            let cleared = flow.integrate_steps(generator, from, schedule, is_wanted)?;
            pictures.push(ImageLatent(latent_of(&cleared)));
            drawn();
        }
        Ok(pictures)
    }

    /// Decodes a latent to RGB bytes.
    pub fn decode_latent(&self, latent: &ImageLatent) -> Result<Vec<u8>, PictorError> {
        self.lock_sessions().decode_latent(&latent.0)
    }

    fn paint_prompt_images(
        &self,
        walk: &ImageSequence<'_>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<PromptImage>, PictorError> {
        let start = patches_of(&generate_noise(walk.seed));
        let scene = |(number, prompt): (usize, &String)| {
            let parts = &mut *self.lock_sessions();
            let condition = parts.reader.encode_prompt(prompt)?;
            if let Some(given) = walk.start.filter(|_| number == 0) {
                return Ok(PromptImage {
                    condition,
                    patches: patches_of(&parts.encode_image(given)?),
                });
            }
            let other = parts.reader.encode_prompt(walk.negative_prompt)?;
            let towards = vec![(1.0, condition.clone())];
            let mut flow = GuidedFlow { towards, other, guidance: GUIDANCE_DEFAULT };
            let generator = &mut parts.generator;
            let schedule = FlowSchedule { start: 1.0, steps: STEPS_FULL };
            let patches = flow.integrate_steps(generator, start.clone(), schedule, is_wanted)?;
            Ok(PromptImage { condition, patches })
        };
        walk.prompts.iter().enumerate().map(scene).collect()
    }
}

/// A prompt and its image.
struct PromptImage {
    condition: PromptCondition,
    patches: Vec<f32>,
}

/// A position between two prompts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SequencePosition {
    scene: usize,
    /// Weight of the next prompt.
    next: f32,
}

impl SequencePosition {
    fn of_image(walk: &ImageSequence<'_>, number: usize) -> SequencePosition {
        let last = walk.pictures.saturating_sub(1).max(1);
        let way = number as f32 / last as f32 * (walk.prompts.len() - 1) as f32;
        let scene = (way as usize).min(walk.prompts.len() - 1);
        let part = ((way - scene as f32 - REST) / (1.0 - 2.0 * REST)).clamp(0.0, 1.0);
        // Smoothstep: starts and ends gently.
        SequencePosition { scene, next: part * part * (3.0 - 2.0 * part) }
    }

    /// The share of noise. `given` is the image's number in a sequence that starts with a given
    /// image.
    fn noise_strength(self, given: Option<usize>) -> f32 {
        let usual = match given.filter(|_| self.scene == 0) {
            Some(number) => {
                let risen = (number as f32 / GIVEN_RISE as f32).min(1.0);
                STRENGTH_GIVEN * risen * (1.0 - self.next) + STRENGTH * self.next
            }
            None => STRENGTH,
        };
        usual + (STRENGTH_BETWEEN - usual) * 4.0 * self.next * (1.0 - self.next)
    }

    /// The prompts with a weight above zero.
    fn weighted_prompts(self, scenes: &[PromptImage]) -> Vec<(f32, PromptCondition)> {
        let both = [(self.scene, 1.0 - self.next), (self.scene + 1, self.next)];
        let counting = both.into_iter().filter(|(_, weight)| 0.0 < *weight);
        counting.map(|(at, weight)| (weight, scenes[at].condition.clone())).collect()
    }

    fn interpolated_patches(self, scenes: &[PromptImage]) -> Vec<f32> {
        let this = &scenes[self.scene].patches;
        match scenes.get(self.scene + 1) {
            Some(next) => interpolate_values(this, &next.patches, self.next),
            None => this.clone(),
        }
    }
}

fn interpolate_values(one: &[f32], other: &[f32], part: f32) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| (1.0 - part) * one + part * other).collect()
}

/// Derives another seed.
fn seed_of(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(prompts: usize, pictures: usize) -> Vec<SequencePosition> {
        let prompts = vec![String::new(); prompts];
        let walk = ImageSequence {
            prompts: &prompts,
            negative_prompt: "",
            seed: 0,
            pictures,
            start: None,
        };
        (0..pictures).map(|number| SequencePosition::of_image(&walk, number)).collect()
    }

    #[test]
    fn a_walk_goes_from_the_first_prompt_to_the_last_in_small_steps() {
        for (prompts, pictures) in [(1, 1), (1, 9), (2, 21), (4, 61)] {
            let places = places(prompts, pictures);
            let way = |place: &SequencePosition| place.scene as f32 + place.next;
            assert_eq!(way(&places[0]), 0.0);
            assert_eq!(way(places.last().unwrap()), (prompts - 1) as f32);
            for pair in places.windows(2) {
                let step = way(&pair[1]) - way(&pair[0]);
                assert!((0.0..0.2).contains(&step), "{pair:?}");
            }
            assert!(places.iter().all(|place| place.scene < prompts));
        }
    }

    #[test]
    fn only_between_prompts_may_much_change() {
        assert!(places(1, 9).iter().all(|place| place.noise_strength(None) == STRENGTH));
        let between = places(2, 21)[10].noise_strength(None);
        assert!((between - STRENGTH_BETWEEN).abs() < 1e-6, "{between}");
    }

    #[test]
    fn a_picture_that_was_given_is_kept_at_first_and_recognised_to_the_end() {
        let strengths = |prompts: usize| -> Vec<f32> {
            let places = places(prompts, 21).into_iter().enumerate();
            places.map(|(number, place)| place.noise_strength(Some(number))).collect()
        };
        let alone = strengths(1);
        assert_eq!(alone[0], 0.0);
        assert!(alone.is_sorted() && alone[20] == STRENGTH_GIVEN);
        let and_then = strengths(2);
        assert_eq!((and_then[0], and_then[20]), (0.0, STRENGTH));
    }
}
