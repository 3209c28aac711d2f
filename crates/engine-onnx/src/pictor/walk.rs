//! Pictures that change into each other, for videos.
//!
//! Each prompt has a picture of its own, drawn from the same noise. Along the walk these pictures
//! are mixed, made unclear with noise that turns slowly, and cleared again towards the prompts of
//! the moment. So neighbours on the walk are alike, and no two are the same.

use super::flow::{Flow, latent_of, patches_of};
use super::prompt::Condition;
use super::{GUIDANCE_DEFAULT, Painter, PictorError, noise};

pub const PROMPTS_MAX: usize = 4;

/// For the picture of each prompt.
const STEPS_FULL: u32 = 8;
/// For each picture of the walk, which begins half way.
const STEPS_SHORT: u32 = 8;
/// How unclear a picture is made: enough to let it change, too little to lose it.
const STRENGTH: f32 = 0.62;
/// Between two prompts it may change more, so that it is not two pictures at once.
const STRENGTH_BETWEEN: f32 = 0.9;
/// How far the noise turns from one picture to the next, in radians.
const TURN: f32 = 0.2;
/// The part of the way between two prompts on which nothing is mixed yet, and none any more.
const REST: f32 = 0.25;

/// What to walk along.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk<'a> {
    /// What is seen in turn.
    pub prompts: &'a [String],
    pub negative_prompt: &'a str,
    /// The same seed gives the same walk.
    pub seed: u64,
    /// How many pictures are drawn along the way, at equal distances.
    pub pictures: usize,
}

/// A picture that is not decoded yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Latent(Vec<f32>);

impl Latent {
    /// From this one, at 0, to another, at 1.
    pub fn towards(&self, other: &Latent, part: f32) -> Latent {
        Latent(mixed(&self.0, &other.0, part))
    }
}

impl Painter {
    /// The pictures of a walk, in turn. `is_wanted` is asked before each step; `drawn` is told of
    /// each picture. Others can draw meanwhile: the model is taken for a picture at a time.
    pub fn walk(
        &self,
        walk: &Walk<'_>,
        is_wanted: &dyn Fn() -> bool,
        mut drawn: impl FnMut(),
    ) -> Result<Vec<Latent>, PictorError> {
        if !(1..=PROMPTS_MAX).contains(&walk.prompts.len()) || walk.pictures == 0 {
            return Err(PictorError::Walk);
        }
        let scenes = self.scenes(walk, is_wanted)?;
        let other = self.parts().reader.read(walk.negative_prompt)?;
        let turning = [1, 2].map(|number| patches_of(&noise(seed_of(walk.seed, number))));
        let mut pictures = Vec::with_capacity(walk.pictures);
        for number in 0..walk.pictures {
            let place = Place::on(walk, number);
            let strength = place.strength();
            let angle = TURN * number as f32;
            let mut from = place.picture(&scenes);
            for ((at, cosine), sine) in from.iter_mut().zip(&turning[0]).zip(&turning[1]) {
                let unclear = angle.cos() * cosine + angle.sin() * sine;
                *at = (1.0 - strength) * *at + strength * unclear;
            }
            let mut flow = Flow {
                towards: place.prompts(&scenes),
                other: other.clone(),
                guidance: GUIDANCE_DEFAULT,
            };
            let generator = &mut self.parts().generator;
            let cleared = flow.walk(generator, from, (strength, STEPS_SHORT), is_wanted)?;
            pictures.push(Latent(latent_of(&cleared)));
            drawn();
        }
        Ok(pictures)
    }

    /// The pixels of a picture, in red, green and blue.
    pub fn decoded(&self, latent: &Latent) -> Result<Vec<u8>, PictorError> {
        self.parts().decode(&latent.0)
    }

    fn scenes(
        &self,
        walk: &Walk<'_>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Vec<Scene>, PictorError> {
        let start = patches_of(&noise(walk.seed));
        let scene = |prompt: &String| {
            let parts = &mut *self.parts();
            let condition = parts.reader.read(prompt)?;
            let other = parts.reader.read(walk.negative_prompt)?;
            let towards = vec![(1.0, condition.clone())];
            let mut flow = Flow { towards, other, guidance: GUIDANCE_DEFAULT };
            let generator = &mut parts.generator;
            let patches = flow.walk(generator, start.clone(), (1.0, STEPS_FULL), is_wanted)?;
            Ok(Scene { condition, patches })
        };
        walk.prompts.iter().map(scene).collect()
    }
}

/// A prompt and its picture.
struct Scene {
    condition: Condition,
    patches: Vec<f32>,
}

/// Between two prompts.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    scene: usize,
    /// How much the next prompt counts.
    next: f32,
}

impl Place {
    fn on(walk: &Walk<'_>, number: usize) -> Place {
        let last = walk.pictures.saturating_sub(1).max(1);
        let way = number as f32 / last as f32 * (walk.prompts.len() - 1) as f32;
        let scene = (way as usize).min(walk.prompts.len() - 1);
        let part = ((way - scene as f32 - REST) / (1.0 - 2.0 * REST)).clamp(0.0, 1.0);
        // Begins and ends gently.
        Place { scene, next: part * part * (3.0 - 2.0 * part) }
    }

    fn strength(self) -> f32 {
        STRENGTH + (STRENGTH_BETWEEN - STRENGTH) * 4.0 * self.next * (1.0 - self.next)
    }

    /// What counts nothing is not computed with.
    fn prompts(self, scenes: &[Scene]) -> Vec<(f32, Condition)> {
        let both = [(self.scene, 1.0 - self.next), (self.scene + 1, self.next)];
        let counting = both.into_iter().filter(|(_, weight)| 0.0 < *weight);
        counting.map(|(at, weight)| (weight, scenes[at].condition.clone())).collect()
    }

    fn picture(self, scenes: &[Scene]) -> Vec<f32> {
        let this = &scenes[self.scene].patches;
        match scenes.get(self.scene + 1) {
            Some(next) => mixed(this, &next.patches, self.next),
            None => this.clone(),
        }
    }
}

fn mixed(one: &[f32], other: &[f32], part: f32) -> Vec<f32> {
    one.iter().zip(other).map(|(one, other)| (1.0 - part) * one + part * other).collect()
}

/// Other noise of the same seed.
fn seed_of(seed: u64, number: u64) -> u64 {
    seed ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(prompts: usize, pictures: usize) -> Vec<Place> {
        let prompts = vec![String::new(); prompts];
        let walk = Walk { prompts: &prompts, negative_prompt: "", seed: 0, pictures };
        (0..pictures).map(|number| Place::on(&walk, number)).collect()
    }

    #[test]
    fn a_walk_goes_from_the_first_prompt_to_the_last_in_small_steps() {
        for (prompts, pictures) in [(1, 1), (1, 9), (2, 21), (4, 61)] {
            let places = places(prompts, pictures);
            let way = |place: &Place| place.scene as f32 + place.next;
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
        assert!(places(1, 9).iter().all(|place| place.strength() == STRENGTH));
        let between = places(2, 21)[10].strength();
        assert!((between - STRENGTH_BETWEEN).abs() < 1e-6, "{between}");
    }
}
