//! Tests of batch selection and pooling.

use proptest::prelude::*;

use super::batch::{INPUTS_MAX, TOKENS_MAX, pick_inputs};
use super::pooling::mean_normalised;

#[test]
fn inputs_of_one_length_are_computed_together() {
    assert_eq!(pick_inputs(&[7; 100]), (0..INPUTS_MAX).collect::<Vec<_>>());
}

#[test]
fn a_long_input_waits_for_its_turn_and_a_short_one_does_not_wait_for_it() {
    assert_eq!(pick_inputs(&[10, 500, 11, 10, 9]), [0, 2, 3, 4]);
    assert_eq!(pick_inputs(&[500, 10, 11]), [0]);
    assert_eq!(pick_inputs(&[]), [0; 0]);
}

#[test]
fn padding_counts_for_nothing() {
    let padded = [3.0, 0.0, 0.0, 4.0, 99.0, 99.0];
    assert_eq!(mean_normalised(&padded, 2, 2), [0.6, 0.8]);
    assert_eq!(mean_normalised(&[0.0, 0.0], 2, 1), [0.0, 0.0]);
}

proptest! {
    #[test]
    fn the_oldest_is_always_picked_and_batches_stay_small(
        lengths in prop::collection::vec(1_usize..=512, 1..200),
    ) {
        let picked = pick_inputs(&lengths);
        prop_assert_eq!(picked[0], 0);
        prop_assert!(picked.windows(2).all(|pair| pair[0] < pair[1]));
        prop_assert!(picked.len() <= INPUTS_MAX);
        let longest = picked.iter().map(|it| lengths[*it]).max().unwrap_or(0);
        prop_assert!(longest * picked.len() <= TOKENS_MAX);
        let tokens: usize = picked.iter().map(|it| lengths[*it]).sum();
        prop_assert!((longest * picked.len() - tokens) * 8 <= longest * picked.len());
    }
}
