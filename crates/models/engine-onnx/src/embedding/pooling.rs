//! Pools one vector per token to one vector per input.

/// The mean of the first `tokens` vectors, scaled to length one.
pub(crate) fn mean_normalised(vectors: &[f32], dimensions: usize, tokens: usize) -> Vec<f32> {
    let mut mean = vec![0.0; dimensions];
    for vector in vectors.chunks_exact(dimensions).take(tokens) {
        for (sum, value) in mean.iter_mut().zip(vector) {
            *sum += value;
        }
    }
    let norm = mean.iter().map(|it| it * it).sum::<f32>().sqrt();
    // No division by the number of tokens: the scaling would undo it.
    for value in &mut mean {
        *value /= norm.max(f32::MIN_POSITIVE);
    }
    mean
}
