//! Resamples one channel of an image, or of a part of it, to another size.
//!
//! Rows are read one by one, from top to bottom, and only the result is kept, so that a large image
//! can be reduced without a second copy in memory.

use super::PictureSides;

/// Resampling filters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterKernel {
    /// Sharp, with slight ringing at edges.
    Lanczos,
    /// Never exceeds the range of the input values.
    Triangle,
}

/// A part of a channel in pixels; its edges may be fractional.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChannelWindow {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl ChannelWindow {
    pub(super) fn whole(width: usize, height: usize) -> ChannelWindow {
        ChannelWindow { left: 0.0, top: 0.0, width: width as f32, height: height as f32 }
    }
}

/// A channel whose rows can be read: `read` fills one row.
pub(super) struct ChannelSource<R> {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) read: R,
}

impl<R: FnMut(usize, &mut [f32])> ChannelSource<R> {
    /// Resamples the window. Each row is read at most once.
    pub(super) fn resample(
        mut self,
        window: ChannelWindow,
        sides: PictureSides,
        filter: FilterKernel,
    ) -> Vec<f32> {
        let PictureSides { width, height } = sides;
        let across = AxisWindow { start: window.left, span: window.width };
        let down = AxisWindow { start: window.top, span: window.height };
        let columns = compute_taps(self.width, across, width, filter);
        let rows = compute_taps(self.height, down, height, filter);
        let mut result = vec![0.0; width * height];
        let (mut read, mut narrowed) = (vec![0.0; self.width], vec![0.0; width]);
        let first = rows.iter().map(|it| it.first).min().unwrap_or(0);
        let end = rows.iter().map(FilterTaps::end).max().unwrap_or(0);
        let mut finished = 0;
        for row in first..end {
            (self.read)(row, &mut read);
            for (value, taps) in narrowed.iter_mut().zip(&columns) {
                *value = taps.weighted_sum(&read);
            }
            while finished < height && rows[finished].end() <= row {
                finished += 1;
            }
            for (target, taps) in (finished..).zip(&rows[finished..]) {
                if row < taps.first {
                    break;
                }
                let Some(weight) = taps.weights.get(row - taps.first) else { continue };
                let target = &mut result[target * width..][..width];
                target.iter_mut().zip(&narrowed).for_each(|(it, value)| *it += weight * value);
            }
        }
        result
    }
}

/// Adjacent pixels and their weights, which sum to 1.
struct FilterTaps {
    first: usize,
    weights: Vec<f32>,
}

impl FilterTaps {
    fn end(&self) -> usize {
        self.first + self.weights.len()
    }

    fn weighted_sum(&self, values: &[f32]) -> f32 {
        let values = &values[self.first..self.end()];
        values.iter().zip(&self.weights).map(|(value, weight)| value * weight).sum()
    }
}

/// One axis of a [`ChannelWindow`].
#[derive(Clone, Copy)]
struct AxisWindow {
    start: f32,
    span: f32,
}

/// The taps of each of `count` pixels over a window of the `length` pixels. The window must overlap
/// them by at least one pixel.
fn compute_taps(
    length: usize,
    window: AxisWindow,
    count: usize,
    filter: FilterKernel,
) -> Vec<FilterTaps> {
    let AxisWindow { start, span } = window;
    let step = span / count as f32;
    // Widens the filter when reducing, to prevent aliasing.
    let stretch = step.max(1.0);
    let reach = filter.radius() * stretch;
    let one = |pixel: usize| {
        let centre = start + (pixel as f32 + 0.5) * step - 0.5;
        let last = length - 1;
        let first = ((centre - reach).ceil().max(0.0) as usize).min(last);
        let end = ((centre + reach).floor().max(0.0) as usize).min(last) + 1;
        let mut weights: Vec<f32> =
            (first..end).map(|at| filter.weight((at as f32 - centre) / stretch)).collect();
        let sum: f32 = weights.iter().sum();
        if sum.abs() < f32::EPSILON {
            weights = vec![1.0];
        } else {
            weights.iter_mut().for_each(|it| *it /= sum);
        }
        FilterTaps { first, weights }
    };
    (0..count).map(one).collect()
}

impl FilterKernel {
    /// Radius in pixels.
    fn radius(self) -> f32 {
        match self {
            FilterKernel::Lanczos => 3.0,
            FilterKernel::Triangle => 1.0,
        }
    }

    fn weight(self, distance: f32) -> f32 {
        let distance = distance.abs();
        if self.radius() <= distance {
            return 0.0;
        }
        match self {
            FilterKernel::Lanczos => compute_sinc(distance) * compute_sinc(distance / 3.0),
            FilterKernel::Triangle => 1.0 - distance,
        }
    }
}

fn compute_sinc(value: f32) -> f32 {
    let angle = value * std::f32::consts::PI;
    if angle.abs() < 1e-6 { 1.0 } else { angle.sin() / angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resampled(
        values: &[f32],
        width: usize,
        window: ChannelWindow,
        sides: PictureSides,
        filter: FilterKernel,
    ) -> Vec<f32> {
        let read =
            |row: usize, into: &mut [f32]| into.copy_from_slice(&values[row * width..][..width]);
        ChannelSource { width, height: values.len() / width, read }.resample(window, sides, filter)
    }

    #[test]
    fn the_same_size_is_the_same_picture() {
        let values: Vec<f32> = (0..35).map(|it| (it * it % 17) as f32).collect();
        let sides = PictureSides { width: 7, height: 5 };
        for filter in [FilterKernel::Lanczos, FilterKernel::Triangle] {
            let same = resampled(&values, 7, ChannelWindow::whole(7, 5), sides, filter);
            for (one, other) in same.iter().zip(&values) {
                assert!((one - other).abs() < 1e-4, "{one} {other}");
            }
        }
    }

    #[test]
    fn what_is_even_stays_even_at_every_size() {
        let values = vec![0.25; 40 * 30];
        for (width, height) in [(1, 1), (7, 90), (40, 30), (133, 2)] {
            let sides = PictureSides { width, height };
            for filter in [FilterKernel::Lanczos, FilterKernel::Triangle] {
                let changed = resampled(&values, 40, ChannelWindow::whole(40, 30), sides, filter);
                assert_eq!(changed.len(), width * height);
                assert!(changed.iter().all(|it| (it - 0.25).abs() < 1e-4), "{sides:?}");
            }
        }
    }

    #[test]
    fn a_part_is_where_it_lies() {
        let values: Vec<f32> = (0..100).map(|it| (it % 10) as f32).collect();
        let window = ChannelWindow { left: 4.0, top: 2.0, width: 3.0, height: 5.0 };
        let sides = PictureSides { width: 3, height: 5 };
        let part = resampled(&values, 10, window, sides, FilterKernel::Triangle);
        assert_eq!(part[..3], [4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_smaller_picture_has_the_mean_of_what_it_covers() {
        let values: Vec<f32> = (0..64).map(|it| (it % 2) as f32).collect();
        let sides = PictureSides { width: 2, height: 2 };
        let small =
            resampled(&values, 8, ChannelWindow::whole(8, 8), sides, FilterKernel::Triangle);
        assert!(small.iter().all(|it| (it - 0.5).abs() < 0.07), "{small:?}");
    }
}
