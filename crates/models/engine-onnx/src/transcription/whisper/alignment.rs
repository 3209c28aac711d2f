//! Token times by dynamic time warping over the cross-attention.

use std::ops::Range;

/// The encoder halves the frame rate of the features.
pub(super) const FRAMES_PER_S: f64 = 50.0;
/// From the reference implementation.
const MEDIAN_FRAMES: usize = 7;

/// The start time of each of the rows, in seconds. `heads` are matrices with `columns` frames per
/// row, of which the first `frames` contain audio.
pub(super) fn starts_s(
    heads: &[&[f32]],
    columns: usize,
    rows: Range<usize>,
    frames: usize,
) -> Vec<f64> {
    let count = rows.len();
    if frames == 0 || heads.is_empty() {
        return vec![0.0; count];
    }
    let mut mean = vec![0.0; count * frames];
    for head in heads {
        let all_rows = head.len() / columns;
        let normalised = normalise_frames(head, columns, all_rows, frames);
        for (row, index) in rows.clone().enumerate() {
            let smooth = filter_median(&normalised[index * frames..][..frames]);
            for (sum, value) in mean[row * frames..][..frames].iter_mut().zip(smooth) {
                *sum += value / heads.len() as f32;
            }
        }
    }
    path_starts(&mean, count, frames).into_iter().map(|it| it as f64 / FRAMES_PER_S).collect()
}

/// Normalises each frame over all tokens, so that a frame that every token attends to has no
/// weight.
fn normalise_frames(head: &[f32], columns: usize, rows: usize, frames: usize) -> Vec<f32> {
    let mut values = vec![0.0; rows * frames];
    for frame in 0..frames {
        let column = || (0..rows).map(|row| head[row * columns + frame]);
        let mean = column().sum::<f32>() / rows as f32;
        let variance = column().map(|it| (it - mean) * (it - mean)).sum::<f32>() / rows as f32;
        let deviation = variance.sqrt().max(f32::MIN_POSITIVE);
        for (row, value) in column().enumerate() {
            values[row * frames + frame] = (value - mean) / deviation;
        }
    }
    values
}

/// Running median; the row is mirrored at its ends.
fn filter_median(row: &[f32]) -> Vec<f32> {
    let half = MEDIAN_FRAMES / 2;
    if row.len() <= half {
        return row.to_vec();
    }
    let mirrored = |at: usize| {
        // `at` is offset by `half`.
        let back = at.abs_diff(half);
        let last = row.len() - 1;
        if last < back && half < at { row[last - (back - last)] } else { row[back] }
    };
    let mut window = [0.0; MEDIAN_FRAMES];
    let mut around = |center: usize| {
        for (offset, value) in window.iter_mut().enumerate() {
            *value = mirrored(center + offset);
        }
        window.sort_unstable_by(f32::total_cmp);
        window[half]
    };
    (0..row.len()).map(&mut around).collect()
}

/// The path with the highest gain from the first row and frame to the last, with steps to the next
/// row, the next frame or both; returns the frame at which it enters each row.
fn path_starts(gains: &[f32], rows: usize, frames: usize) -> Vec<usize> {
    let mut best = vec![f32::NEG_INFINITY; (rows + 1) * (frames + 1)];
    let mut came_from = vec![AlignmentMove::Both; (rows + 1) * (frames + 1)];
    let at = |row: usize, frame: usize| row * (frames + 1) + frame;
    best[0] = 0.0;
    for row in 1..=rows {
        for frame in 1..=frames {
            let both = (best[at(row - 1, frame - 1)], AlignmentMove::Both);
            let next_row = (best[at(row - 1, frame)], AlignmentMove::Row);
            let next_frame = (best[at(row, frame - 1)], AlignmentMove::Frame);
            let better = |one: (f32, AlignmentMove), other: (f32, AlignmentMove)| {
                if one.0 < other.0 { other } else { one }
            };
            let (gain, step) = better(better(both, next_row), next_frame);
            best[at(row, frame)] = gain + gains[(row - 1) * frames + frame - 1];
            came_from[at(row, frame)] = step;
        }
    }
    let mut starts = vec![0; rows];
    let (mut row, mut frame) = (rows, frames);
    while 0 < row && 0 < frame {
        starts[row - 1] = frame - 1;
        match came_from[at(row, frame)] {
            AlignmentMove::Both => {
                row -= 1;
                frame -= 1;
            }
            AlignmentMove::Row => row -= 1,
            AlignmentMove::Frame => frame -= 1,
        }
    }
    starts
}

#[derive(Clone, Copy)]
enum AlignmentMove {
    Both,
    Row,
    Frame,
}
