//! Computes the maximum, the entropy and log probabilities of logits.

/// Numbers compared in parallel; the compiler generates vector instructions.
const LANES: usize = 16;

/// The most likely token (the first of equals) and its logit.
pub(super) fn find_most_likely(logits: &[f32]) -> (u32, f32) {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let chunks = logits.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (lane, logit) in lanes.iter_mut().zip(chunk) {
            *lane = if *lane < *logit { *logit } else { *lane };
        }
    }
    let highest = lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    let first = logits.iter().position(|logit| highest <= *logit).unwrap_or(0);
    (u32::try_from(first).unwrap_or(0), highest)
}

/// Entropy relative to its maximum: 0 if one token is certain, 1 if all are equally likely.
pub(super) fn entropy_share(logits: &[f32], highest: f32) -> f32 {
    let (mut total, mut weighed) = (0.0_f64, 0.0_f64);
    let mut possible = 0_u32;
    for logit in logits.iter().filter(|logit| logit.is_finite()) {
        let below = f64::from(logit - highest);
        let weight = below.exp();
        total += weight;
        weighed += weight * below;
        possible += 1;
    }
    if possible <= 1 {
        return 0.0;
    }
    let entropy = total.ln() - weighed / total;
    let share = entropy / f64::from(possible).ln();
    share.clamp(0.0, 1.0) as f32
}

/// The log probability of a token, and of the `few` most likely ones in descending order.
pub(crate) fn compute_logprobs(logits: &[f32], token: u32, few: usize) -> (f32, Vec<(u32, f32)>) {
    let (_, highest) = find_most_likely(logits);
    let total: f64 = logits.iter().map(|logit| f64::from(logit - highest).exp()).sum();
    let level = highest + total.ln() as f32;
    let position = usize::try_from(token).unwrap_or(usize::MAX);
    let own = logits.get(position).copied().unwrap_or(f32::NEG_INFINITY) - level;
    if few == 0 {
        return (own, Vec::new());
    }
    let mut ranked: Vec<(u32, f32)> = (0..).zip(logits.iter().map(|it| it - level)).collect();
    let likelier_first = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if few < ranked.len() {
        ranked.select_nth_unstable_by(few, likelier_first);
        ranked.truncate(few);
    }
    ranked.sort_unstable_by(likelier_first);
    (own, ranked)
}
