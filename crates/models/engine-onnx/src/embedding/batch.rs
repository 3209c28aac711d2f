//! Selects the queued inputs that are computed together.

/// Maximum inputs per batch.
pub(super) const INPUTS_MAX: usize = 32;
/// Maximum tokens per batch, including padding; bounds its memory.
pub(super) const TOKENS_MAX: usize = 8_192;
/// Inputs are padded to the longest of their batch. More padding than one token in this many costs
/// more than a larger batch gains.
const PADDING_DIVISOR: usize = 8;

/// Selects inputs by length. `lengths` is ordered by age, oldest first. The oldest is always
/// selected, so that no input starves, with the others nearest to it in length.
pub(super) fn pick_inputs(lengths: &[usize]) -> Vec<usize> {
    let Some(&oldest) = lengths.first() else {
        return Vec::new();
    };
    let mut nearest: Vec<usize> = (0..lengths.len()).collect();
    nearest.sort_by_key(|&index| (lengths[index].abs_diff(oldest), index));
    let mut picked = Vec::new();
    let (mut longest, mut tokens) = (0, 0);
    for index in nearest {
        let length = lengths[index];
        let padded = longest.max(length) * (picked.len() + 1);
        let padding = padded - (tokens + length);
        let fits = picked.is_empty()
            || (picked.len() < INPUTS_MAX
                && padded <= TOKENS_MAX
                && padding * PADDING_DIVISOR <= padded);
        if !fits {
            continue;
        }
        picked.push(index);
        longest = longest.max(length);
        tokens += length;
    }
    picked.sort_unstable();
    picked
}
