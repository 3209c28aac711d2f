//! Pixels to fill, in connected groups.

use super::super::RgbaPicture;

/// Pixels with a lower alpha are holes.
const OPAQUE_MIN: u8 = 128;
/// Side in pixels of the cells in which holes are gathered; adjacent cells form one group.
const CELL: usize = 32;
/// With more groups everything becomes one group, which bounds the work for masks with many dots.
const GROUPS_MAX: usize = 8;

/// The unknown pixels, one byte each, where a mask takes four.
pub struct HoleMask {
    width: usize,
    height: usize,
    is_hole: Vec<bool>,
}

/// Includes `left` and `top`, excludes `right` and `bottom`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HoleArea {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
}

impl HoleMask {
    /// The transparent pixels of an image.
    pub fn from_mask(mask: &RgbaPicture) -> HoleMask {
        let pixels = mask.rgba.as_chunks::<4>().0;
        let is_hole = pixels.iter().map(|it| it[3] < OPAQUE_MIN).collect();
        HoleMask { width: mask.width, height: mask.height, is_hole }
    }

    pub(super) fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    pub(super) fn is_at(&self, row: usize, column: usize) -> bool {
        self.is_hole[row * self.width + column]
    }

    pub(super) fn are_everywhere(&self) -> bool {
        self.is_hole.iter().all(|it| *it)
    }

    /// True if any pixel of the area is unknown.
    pub(super) fn are_in(&self, area: HoleArea) -> bool {
        let mut rows = area.top..area.bottom;
        rows.any(|row| self.is_hole[row * self.width..][area.left..area.right].contains(&true))
    }

    /// Marks these pixels as known.
    pub(super) fn close(&mut self, area: HoleArea) {
        for row in area.top..area.bottom {
            self.is_hole[row * self.width..][area.left..area.right].fill(false);
        }
    }

    /// Minimal areas that contain all holes; empty if there are none.
    pub(super) fn find_areas(&self) -> Vec<HoleArea> {
        let (across, down) = (self.width.div_ceil(CELL), self.height.div_ceil(CELL));
        let mut cells: Vec<Option<HoleArea>> = vec![None; across * down];
        for (row, holes) in self.is_hole.chunks_exact(self.width).enumerate() {
            for (column, _) in holes.iter().enumerate().filter(|(_, is_hole)| **is_hole) {
                let pixel = HoleArea { left: column, top: row, right: column + 1, bottom: row + 1 };
                let cell = &mut cells[row / CELL * across + column / CELL];
                *cell = Some(cell.map_or(pixel, |it| it.with(pixel)));
            }
        }
        let mut groups = Vec::new();
        for start in 0..cells.len() {
            if let Some(area) = cells[start].take() {
                groups.push(gather_group(&mut cells, across, start, area));
            }
        }
        if GROUPS_MAX < groups.len() {
            groups = groups.into_iter().reduce(HoleArea::with).into_iter().collect();
        }
        groups
    }
}

/// Removes a cell and all cells connected with it; returns their joint area.
fn gather_group(
    cells: &mut [Option<HoleArea>],
    across: usize,
    start: usize,
    area: HoleArea,
) -> HoleArea {
    let (mut whole, mut open) = (area, vec![start]);
    while let Some(at) = open.pop() {
        let column = at % across;
        let columns = column.saturating_sub(1)..=(column + 1).min(across - 1);
        let rows = [at.checked_sub(across), Some(at), at.checked_add(across)];
        for row in rows.into_iter().flatten() {
            for column in columns.clone() {
                let neighbour = row / across * across + column;
                if let Some(area) = cells.get_mut(neighbour).and_then(Option::take) {
                    whole = whole.with(area);
                    open.push(neighbour);
                }
            }
        }
    }
    whole
}

impl HoleArea {
    fn with(self, other: HoleArea) -> HoleArea {
        HoleArea {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(width: usize, height: usize, areas: &[HoleArea]) -> HoleMask {
        let mut mask = RgbaPicture::new(width, height, vec![255; width * height * 4]).unwrap();
        for area in areas {
            for row in area.top..area.bottom {
                mask.row_mut(row)[area.left..area.right].fill([255, 255, 255, 0]);
            }
        }
        HoleMask::from_mask(&mask)
    }

    const NEAR: HoleArea = HoleArea { left: 10, top: 20, right: 40, bottom: 100 };
    const FAR: HoleArea = HoleArea { left: 700, top: 300, right: 701, bottom: 301 };

    #[test]
    fn holes_far_from_one_another_are_groups_of_their_own() {
        let mut holes = holes(800, 400, &[NEAR, FAR]);
        assert_eq!(holes.find_areas(), [NEAR, FAR]);
        assert!(holes.is_at(20, 10) && !holes.is_at(19, 10) && !holes.are_everywhere());
        assert!(holes.are_in(NEAR));
        holes.close(NEAR);
        assert!(!holes.are_in(NEAR) && holes.are_in(FAR));
        assert_eq!(holes.find_areas(), [FAR]);
        holes.close(FAR);
        assert!(holes.find_areas().is_empty());
    }

    #[test]
    fn many_dots_are_one_group() {
        let dots: Vec<HoleArea> = (0..20)
            .map(|at| 100 * at)
            .map(|at| HoleArea { left: at, top: at, right: at + 1, bottom: at + 1 })
            .collect();
        let whole = HoleArea { left: 0, top: 0, right: 1901, bottom: 1901 };
        assert_eq!(holes(2000, 2000, &dots).find_areas(), [whole]);
    }

    #[test]
    fn a_mask_without_anything_opaque_is_told() {
        let all = HoleArea { left: 0, top: 0, right: 70, bottom: 65 };
        assert!(holes(70, 65, &[all]).are_everywhere());
    }
}
