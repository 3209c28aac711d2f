//! Divides an image into tiles, which are processed with a margin; only their core is used.
//!
//! All tiles have the same size, so that a network allocates once. Margins beyond the image's edges
//! are mirrored.

use std::ops::Range;

/// The division of one axis of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TileDivision {
    /// Length of the axis in pixels.
    length: usize,
    /// Length of each tile without margins.
    core: usize,
    margin: usize,
    count: usize,
}

/// A tile on one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TileSpan {
    /// The start including the margin; negative if outside of the image.
    pub(super) start: isize,
    /// The range of the result that this tile provides.
    pub(super) target: Range<usize>,
}

/// Networks halve and double sides, some of them twice.
const MULTIPLE: usize = 4;

impl TileDivision {
    /// Divides into the fewest tiles of about equal size that `core_max` allows.
    pub(super) fn divide_axis(length: usize, core_max: usize, margin: usize) -> TileDivision {
        let count = length.div_ceil(core_max).max(1);
        let whole = (length.div_ceil(count) + 2 * margin).next_multiple_of(MULTIPLE);
        let core = whole - 2 * margin;
        // Rounding up the tile length may leave the last tile empty.
        TileDivision { length, core, margin, count: length.div_ceil(core) }
    }

    /// Length of each tile with margins.
    pub(super) fn part_length(&self) -> usize {
        self.core + 2 * self.margin
    }

    /// The tiles, if the axis is scaled to `target` pixels.
    pub(super) fn tile_spans(self, target: usize) -> impl Iterator<Item = TileSpan> {
        let place = move |at: usize| {
            let at = at.min(self.length) as f64 / self.length as f64;
            (at * target as f64).round() as usize
        };
        (0..self.count).map(move |index| TileSpan {
            start: (index * self.core).cast_signed() - self.margin.cast_signed(),
            target: place(index * self.core)..place((index + 1) * self.core),
        })
    }
}

/// The pixel at a position, mirrored at the edges.
pub(super) fn mirror_index(at: isize, length: usize) -> usize {
    let period = (2 * length).cast_signed();
    let at = at.rem_euclid(period).cast_unsigned();
    if at < length { at } else { 2 * length - 1 - at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pixel_of_the_result_belongs_to_one_part() {
        for length in [1, 5, 63, 64, 256, 257, 1000, 5761, 518_400] {
            for target in [length, 2 * length, 3 * length + 1, 4 * length] {
                let division = TileDivision::divide_axis(length, 256, 20);
                let mut end = 0;
                for part in division.tile_spans(target) {
                    assert_eq!(part.target.start, end, "{length} {target}");
                    end = part.target.end;
                    // The range lies between the tile's margins.
                    let scale = target as f64 / length as f64;
                    let first = part.target.start as f64 / scale;
                    let last = part.target.end as f64 / scale;
                    assert!(part.start as f64 + 20.0 <= first + 1.0);
                    let inner_end = part.start as f64 + (20 + division.core) as f64;
                    assert!(last <= inner_end + 1.0, "{last} {inner_end}");
                }
                assert_eq!(end, target);
            }
        }
    }

    #[test]
    fn parts_are_no_larger_than_said_and_of_one_size() {
        for length in 1..2000 {
            let division = TileDivision::divide_axis(length, 256, 20);
            assert!(division.part_length() <= 256 + 2 * 20 + MULTIPLE);
            assert!(division.part_length().is_multiple_of(MULTIPLE));
            assert!(length <= division.core * division.count);
        }
    }

    #[test]
    fn beyond_the_edges_lies_the_picture_mirrored() {
        let seen: Vec<usize> = (-4..8).map(|at| mirror_index(at, 3)).collect();
        assert_eq!(seen, [2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1]);
        assert_eq!(mirror_index(-30, 1), 0);
    }
}
