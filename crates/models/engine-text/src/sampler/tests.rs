//! Tests of sampling with a vocabulary of a few tokens.

use proptest::prelude::*;

use super::*;

/// The tokens that occur in many samples.
fn drawn(sampling: SamplingSettings, logits: &[f32]) -> Vec<u32> {
    let mut seen: Vec<u32> = (0..400)
        .map(|seed| TokenSampler::new(sampling, &[], seed).sample_token(logits, None).ok().unwrap())
        .collect();
    seen.sort_unstable();
    seen.dedup();
    seen
}

fn warm() -> SamplingSettings {
    SamplingSettings { temperature: Some(1.0), ..SamplingSettings::default() }
}

const LOGITS: [f32; 5] = [1.0, 3.0, 2.0, 3.0, -90.0];

#[test]
fn at_temperature_0_the_first_of_the_likeliest_is_taken() {
    let cold = SamplingSettings { temperature: Some(0.0), ..SamplingSettings::default() };
    assert_eq!(drawn(cold, &LOGITS), [1]);
}

#[test]
fn without_filters_everything_likely_comes_up() {
    assert_eq!(drawn(warm(), &LOGITS), [0, 1, 2, 3]);
}

#[test]
fn top_k_keeps_the_likeliest() {
    assert_eq!(drawn(SamplingSettings { top_k: Some(1), ..warm() }, &LOGITS), [1]);
    assert_eq!(drawn(SamplingSettings { top_k: Some(3), ..warm() }, &LOGITS), [1, 2, 3]);
    assert_eq!(drawn(SamplingSettings { top_k: Some(0), ..warm() }, &LOGITS), [0, 1, 2, 3]);
}

#[test]
fn top_p_keeps_the_fewest_that_make_up_the_share() {
    // The shares are 0.40, 0.40, 0.15 and 0.05.
    assert_eq!(drawn(SamplingSettings { top_p: Some(0.0), ..warm() }, &LOGITS), [1]);
    assert_eq!(drawn(SamplingSettings { top_p: Some(0.5), ..warm() }, &LOGITS), [1, 3]);
    assert_eq!(drawn(SamplingSettings { top_p: Some(0.9), ..warm() }, &LOGITS), [1, 2, 3]);
}

#[test]
fn min_p_keeps_what_is_not_much_less_likely_than_the_best() {
    // e^-1 is 0.37 and e^-2 is 0.14.
    assert_eq!(drawn(SamplingSettings { min_p: Some(0.3), ..warm() }, &LOGITS), [1, 2, 3]);
    assert_eq!(drawn(SamplingSettings { min_p: Some(1.0), ..warm() }, &LOGITS), [1, 3]);
}

#[test]
fn a_range_of_temperatures_follows_the_entropy() {
    let range = SamplingSettings {
        temperature_min: Some(0.0),
        temperature_max: Some(2.0),
        ..SamplingSettings::default()
    };
    let sampler = TokenSampler::new(range, &[], 0);
    let at = |logits: &[f32]| {
        sampler.compute_temperature(logits, likelihood::find_most_likely(logits).1)
    };
    assert!(at(&[50.0, 0.0, 0.0]) < 0.01);
    assert!((at(&[1.0, 1.0, 1.0]) - 2.0).abs() < 1e-5);
    let between = at(&[2.0, 0.0, 0.0]);
    assert!(0.1 < between && between < 1.9, "{between}");
}

#[test]
fn one_bound_alone_limits_the_temperature() {
    let sampling =
        SamplingSettings { temperature: Some(0.2), temperature_min: Some(0.5), ..warm() };
    let sampler = TokenSampler::new(SamplingSettings { temperature_max: None, ..sampling }, &[], 0);
    assert!((sampler.compute_temperature(&LOGITS, 3.0) - 0.5).abs() < 1e-6);
}

#[test]
fn a_repetition_penalty_counts_the_prompt_and_the_others_do_not() {
    let cold = SamplingSettings { temperature: Some(0.0), ..SamplingSettings::default() };
    let repeated = SamplingSettings { repetition_penalty: Some(2.0), ..cold };
    let draw = |sampling| TokenSampler::new(sampling, &[1, 3], 0).sample_token(&LOGITS, None).ok();
    assert_eq!(draw(repeated), Some(2));
    assert_eq!(draw(SamplingSettings { presence_penalty: Some(2.0), ..cold }), Some(1));
    assert_eq!(draw(SamplingSettings { frequency_penalty: Some(2.0), ..cold }), Some(1));
}

#[test]
fn presence_counts_once_and_frequency_every_time() {
    let cold = SamplingSettings { temperature: Some(0.0), ..SamplingSettings::default() };
    let written = |sampling| {
        let mut sampler = TokenSampler::new(sampling, &[], 0);
        let draw = |_| sampler.sample_token(&[2.0, 1.0], None).ok().unwrap();
        (0..5).map(draw).collect::<Vec<u32>>()
    };
    assert_eq!(written(SamplingSettings { presence_penalty: Some(0.6), ..cold }), [0, 0, 0, 0, 0]);
    assert_eq!(written(SamplingSettings { presence_penalty: Some(1.5), ..cold }), [0, 1, 0, 0, 0]);
    assert_eq!(written(SamplingSettings { frequency_penalty: Some(0.6), ..cold }), [0, 0, 1, 0, 1]);
}

#[test]
fn equal_seeds_draw_equally_and_others_do_not() {
    let draws = |seed| {
        let mut sampler = TokenSampler::new(warm(), &[], seed);
        (0..20).map(|_| sampler.sample_token(&LOGITS, None).ok().unwrap()).collect::<Vec<u32>>()
    };
    assert_eq!(draws(7), draws(7));
    assert_ne!(draws(7), draws(8));
}

#[test]
fn log_probabilities_are_of_the_model_and_add_up_to_one() {
    let (own, ranked) = compute_logprobs(&LOGITS, 2, 5);
    let sum: f32 = ranked.iter().map(|(_, logprob)| logprob.exp()).sum();
    assert!((sum - 1.0).abs() < 1e-5, "{sum}");
    assert_eq!(ranked.iter().map(|(token, _)| *token).collect::<Vec<_>>(), [1, 3, 2, 0, 4]);
    assert!((ranked[2].1 - own).abs() < 1e-6);
    assert_eq!(compute_logprobs(&LOGITS, 2, 2).1, &ranked[..2]);
}

proptest! {
    /// With any parameters, the sampled token exists and is possible.
    #[test]
    fn a_draw_is_always_possible(
        logits in proptest::collection::vec(
            prop_oneof![4 => -30.0_f32..30.0, 1 => Just(f32::NEG_INFINITY)], 1..40),
        temperature in 0.0_f32..2.0,
        top_k in 0_u32..50,
        top_p in 0.0_f32..=1.0,
        min_p in 0.0_f32..=1.0,
        seed: u64,
    ) {
        prop_assume!(logits.iter().any(|logit| logit.is_finite()));
        let sampling = SamplingSettings {
            temperature: Some(temperature),
            top_k: Some(top_k),
            top_p: Some(top_p),
            min_p: Some(min_p),
            ..SamplingSettings::default()
        };
        let token = TokenSampler::new(sampling, &[], seed).sample_token(&logits, None).ok().unwrap();
        prop_assert!(logits[token as usize].is_finite());
    }
}
