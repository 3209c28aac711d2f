//! Integrates the flow from noise to a latent, in equal time steps from 1 to 0.

use std::ops::RangeInclusive;

use ort::value::TensorRef;

use super::generator::{self, FEATURES, VelocityGenerator};
use super::prompt::PromptCondition;
use super::{
    LATENT, LATENT_CHANNELS, LATENT_SIDE, PATCH, PATCHES, PATCHES_SIDE, PictorError, TEXT_TOKENS,
    TEXT_WIDTH,
};

/// The generator expects times multiplied by this.
const TIME_SCALE: f32 = 1000.0;
/// The generator expects `guidance - 1` multiplied by this.
const GUIDANCE_SCALE: f32 = 100.0;
/// Guidance values that the weights were trained for.
const GUIDANCE_LEARNT: RangeInclusive<f32> = 1.0..=7.0;
const PERIOD_MAX: f32 = 10_000.0;

/// Prompts to follow, and `other` to avoid.
pub(super) struct GuidedFlow {
    /// Prompts with weights that sum to 1.
    pub(super) towards: Vec<(f32, PromptCondition)>,
    pub(super) other: PromptCondition,
    pub(super) guidance: f32,
}

/// Times from `start` down to 0, in equal steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowSchedule {
    pub(super) start: f32,
    pub(super) steps: u32,
}

impl GuidedFlow {
    /// Moves patches from the schedule's start to time 0.
    pub(super) fn integrate_steps(
        &mut self,
        generator: &mut VelocityGenerator,
        mut patches: Vec<f32>,
        schedule: FlowSchedule,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Vec<f32>, PictorError> {
        let FlowSchedule { start, steps } = schedule;
        let time = |step: u32| start * (1.0 - step as f32 / steps as f32);
        for step in 0..steps {
            if !is_wanted() {
                return Err(PictorError::Cancelled);
            }
            let velocity = self.compute_velocity(generator, &patches, time(step))?;
            let length = time(step + 1) - time(step);
            for (number, velocity) in patches.iter_mut().zip(velocity) {
                *number += length * velocity;
            }
        }
        Ok(patches)
    }

    /// The guidance to pass to the generator, if it was trained for it and there is no negative
    /// prompt. `None` means that the generator must also be run for `other`.
    fn learnt_guidance(&self, takes_guidance: bool) -> Option<f32> {
        let is_learnt = takes_guidance && self.other.is_empty();
        Some(self.guidance).filter(|it| is_learnt && GUIDANCE_LEARNT.contains(it))
    }

    /// Runs the generator with one row per prompt, and one for `other` if needed.
    fn compute_velocity(
        &self,
        generator: &mut VelocityGenerator,
        patches: &[f32],
        time: f32,
    ) -> Result<Vec<f32>, PictorError> {
        let learnt = self.learnt_guidance(generator.takes_guidance);
        let is_guided = learnt.is_none() && (self.guidance - 1.0).abs() > f32::EPSILON;
        let wished = self.towards.iter().map(|(_, condition)| condition);
        let rows: Vec<&PromptCondition> = wished.chain(is_guided.then_some(&self.other)).collect();
        let count = rows.len();
        let joined = |part: fn(&PromptCondition) -> &[f32]| -> Vec<f32> {
            rows.iter().flat_map(|row| part(row)).copied().collect()
        };
        let (states, mask, whole) =
            (joined(|it| &it.states), joined(|it| &it.mask), joined(|it| &it.whole));
        let patches = patches.repeat(count);
        let features = sinusoidal_embedding(time * TIME_SCALE).repeat(count);
        let guidance =
            sinusoidal_embedding((learnt.unwrap_or(1.0) - 1.0) * GUIDANCE_SCALE).repeat(count);
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

/// Sinusoidal embedding of a number.
fn sinusoidal_embedding(number: f32) -> Vec<f32> {
    let half = FEATURES / 2;
    let speed = |at: usize| (-PERIOD_MAX.ln() * at as f32 / half as f32).exp();
    let angles: Vec<f32> = (0..half).map(|at| number * speed(at)).collect();
    let cosines = angles.iter().map(|it| it.cos());
    cosines.chain(angles.iter().map(|it| it.sin())).collect()
}

/// The index in the latent of each number of the patches.
fn latent_indices() -> impl Iterator<Item = usize> {
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
    latent_indices().map(|place| latent[place]).collect()
}

pub(super) fn latent_of(patches: &[f32]) -> Vec<f32> {
    let mut latent = vec![0.0; LATENT];
    for (place, number) in latent_indices().zip(patches) {
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
        let features = sinusoidal_embedding(0.0);
        assert!(features[..FEATURES / 2].iter().all(|it| *it == 1.0));
        assert!(features[FEATURES / 2..].iter().all(|it| *it == 0.0));
    }

    #[test]
    fn guidance_is_told_where_it_was_learnt_and_nothing_is_avoided() {
        let nothing =
            PromptCondition { states: vec![], mask: vec![0.0; TEXT_TOKENS], whole: vec![] };
        let words = PromptCondition { mask: vec![1.0; TEXT_TOKENS], ..nothing.clone() };
        let told = |other: &PromptCondition, guidance, takes_guidance| {
            let flow = GuidedFlow { towards: vec![], other: other.clone(), guidance };
            flow.learnt_guidance(takes_guidance)
        };
        assert_eq!(told(&nothing, 4.0, true), Some(4.0));
        assert_eq!(told(&nothing, 1.0, true), Some(1.0));
        assert_eq!(told(&nothing, 4.0, false), None);
        assert_eq!(told(&words, 4.0, true), None);
        assert_eq!(told(&nothing, 7.5, true), None);
    }
}
