//! The walk from noise to a latent, in equal steps of time from 1 to 0.

use std::ops::RangeInclusive;

use ort::value::TensorRef;

use super::generator::{self, FEATURES, Generator};
use super::prompt::Condition;
use super::{
    LATENT, LATENT_CHANNELS, LATENT_SIDE, PATCH, PATCHES, PATCHES_SIDE, PictorError, TEXT_TOKENS,
    TEXT_WIDTH,
};

/// Times from 0 to 1 are told to the generator as if from 0 to this.
const TIME_SCALE: f32 = 1000.0;
/// Guidance from 1 on is told as if from 0 on, in these.
const GUIDANCE_SCALE: f32 = 100.0;
/// What the weights have learnt to be told.
const GUIDANCE_LEARNT: RangeInclusive<f32> = 1.0..=7.0;
const PERIOD_MAX: f32 = 10_000.0;

/// Towards what is wished, and away from `other`.
pub(super) struct Flow {
    /// Prompts and how much each counts; together they count one.
    pub(super) towards: Vec<(f32, Condition)>,
    pub(super) other: Condition,
    pub(super) guidance: f32,
}

impl Flow {
    /// Moves patches from `start` to 0.
    pub(super) fn walk(
        &mut self,
        generator: &mut Generator,
        mut patches: Vec<f32>,
        (start, steps): (f32, u32),
        is_wanted: impl Fn() -> bool,
    ) -> Result<Vec<f32>, PictorError> {
        let time = |step: u32| start * (1.0 - step as f32 / steps as f32);
        for step in 0..steps {
            if !is_wanted() {
                return Err(PictorError::Cancelled);
            }
            let velocity = self.velocity(generator, &patches, time(step))?;
            let length = time(step + 1) - time(step);
            for (number, velocity) in patches.iter_mut().zip(velocity) {
                *number += length * velocity;
            }
        }
        Ok(patches)
    }

    /// What the generator is told to follow the prompts with, where it has learnt that and nothing
    /// is to be avoided. Else it is asked for the other direction too.
    fn learnt_guidance(&self, takes_guidance: bool) -> Option<f32> {
        let is_learnt = takes_guidance && self.other.is_empty();
        Some(self.guidance).filter(|it| is_learnt && GUIDANCE_LEARNT.contains(it))
    }

    /// All prompts are asked at once, a row for each, and the other one where it is needed.
    fn velocity(
        &self,
        generator: &mut Generator,
        patches: &[f32],
        time: f32,
    ) -> Result<Vec<f32>, PictorError> {
        let learnt = self.learnt_guidance(generator.takes_guidance);
        let is_guided = learnt.is_none() && (self.guidance - 1.0).abs() > f32::EPSILON;
        let wished = self.towards.iter().map(|(_, condition)| condition);
        let rows: Vec<&Condition> = wished.chain(is_guided.then_some(&self.other)).collect();
        let count = rows.len();
        let joined = |part: fn(&Condition) -> &[f32]| -> Vec<f32> {
            rows.iter().flat_map(|row| part(row)).copied().collect()
        };
        let (states, mask, whole) =
            (joined(|it| &it.states), joined(|it| &it.mask), joined(|it| &it.whole));
        let patches = patches.repeat(count);
        let features = waves(time * TIME_SCALE).repeat(count);
        let guidance = waves((learnt.unwrap_or(1.0) - 1.0) * GUIDANCE_SCALE).repeat(count);
        let mut inputs = ort::inputs! {
            generator::PATCHES_IN =>
                TensorRef::from_array_view(([count, PATCHES, PATCH], patches.as_slice()))?,
            generator::TIME =>
                TensorRef::from_array_view(([count, FEATURES], features.as_slice()))?,
            generator::STATES =>
                TensorRef::from_array_view(([count, TEXT_TOKENS, TEXT_WIDTH], states.as_slice()))?,
            generator::MASK =>
                TensorRef::from_array_view(([count, TEXT_TOKENS, 1], mask.as_slice()))?,
            generator::POOLED =>
                TensorRef::from_array_view(([count, TEXT_WIDTH], whole.as_slice()))?,
        };
        if generator.takes_guidance {
            let told = TensorRef::from_array_view(([count, FEATURES], guidance.as_slice()))?;
            inputs.push((generator::GUIDANCE.into(), told.into()));
        }
        let outputs = generator.session.run(inputs)?;
        let velocities = outputs[generator::VELOCITY].try_extract_tensor::<f32>()?.1;
        let mut rows = velocities.chunks_exact(LATENT);
        let mut mixed = vec![0.0; LATENT];
        for ((weight, _), row) in self.towards.iter().zip(&mut rows) {
            mixed.iter_mut().zip(row).for_each(|(sum, velocity)| *sum += weight * velocity);
        }
        let Some(other) = rows.next().filter(|_| is_guided) else { return Ok(mixed) };
        let both = mixed.iter().zip(other);
        Ok(both.map(|(towards, other)| other + self.guidance * (towards - other)).collect())
    }
}

/// A number as the generator is told it.
fn waves(number: f32) -> Vec<f32> {
    let half = FEATURES / 2;
    let speed = |at: usize| (-PERIOD_MAX.ln() * at as f32 / half as f32).exp();
    let angles: Vec<f32> = (0..half).map(|at| number * speed(at)).collect();
    let cosines = angles.iter().map(|it| it.cos());
    cosines.chain(angles.iter().map(|it| it.sin())).collect()
}

/// Where each number of the patches lies in the latent.
fn places() -> impl Iterator<Item = usize> {
    (0..PATCHES).flat_map(|patch| {
        let (row, column) = (patch / PATCHES_SIDE * 2, patch % PATCHES_SIDE * 2);
        (0..LATENT_CHANNELS).flat_map(move |channel| {
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(down, right)| {
                (channel * LATENT_SIDE + row + down) * LATENT_SIDE + column + right
            })
        })
    })
}

pub(super) fn patches_of(latent: &[f32]) -> Vec<f32> {
    places().map(|place| latent[place]).collect()
}

pub(super) fn latent_of(patches: &[f32]) -> Vec<f32> {
    let mut latent = vec![0.0; LATENT];
    for (place, number) in places().zip(patches) {
        latent[place] = *number;
    }
    latent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_two_by_two_places_of_every_channel_and_nothing_is_lost() {
        let latent: Vec<f32> = (0..LATENT).map(|it| it as f32).collect();
        let patches = patches_of(&latent);
        assert_eq!(patches[..5], [0.0, 1.0, 32.0, 33.0, 1024.0]);
        assert_eq!(patches[PATCH], 2.0);
        assert_eq!(latent_of(&patches), latent);
    }

    #[test]
    fn a_number_is_told_as_waves_that_begin_together() {
        let features = waves(0.0);
        assert!(features[..FEATURES / 2].iter().all(|it| *it == 1.0));
        assert!(features[FEATURES / 2..].iter().all(|it| *it == 0.0));
    }

    #[test]
    fn guidance_is_told_where_it_was_learnt_and_nothing_is_avoided() {
        let nothing = Condition { states: vec![], mask: vec![0.0; TEXT_TOKENS], whole: vec![] };
        let words = Condition { mask: vec![1.0; TEXT_TOKENS], ..nothing.clone() };
        let told = |other: &Condition, guidance, takes_guidance| {
            let flow = Flow { towards: vec![], other: other.clone(), guidance };
            flow.learnt_guidance(takes_guidance)
        };
        assert_eq!(told(&nothing, 4.0, true), Some(4.0));
        assert_eq!(told(&nothing, 1.0, true), Some(1.0));
        assert_eq!(told(&nothing, 4.0, false), None);
        assert_eq!(told(&words, 4.0, true), None);
        assert_eq!(told(&nothing, 7.5, true), None);
    }
}
