//! Detects columns and puts all rows in reading order.

use super::{CELL_GAP, LayoutRow, PlacedRun};

/// Maximum nesting of columns.
const LEVELS_MAX: usize = 8;
/// Maximum candidate gaps between columns. The widest are kept.
const GAPS_MAX: usize = 16;
/// Minimum lines of a column that was drawn separately.
const LINES_MIN: usize = 2;
/// Minimum average characters per line of such a column. Tables and forms have fewer.
const LINE_CHARACTERS_MIN: usize = 12;
/// The minimums for columns whose lines were drawn alternately, as in tables.
const MIXED_LINES_MIN: usize = 4;
const MIXED_LINE_CHARACTERS_MIN: usize = 28;

/// Rows in reading order, split at columns.
pub(super) fn order_rows(rows: Vec<LayoutRow>) -> Vec<LayoutRow> {
    let mut read = Vec::with_capacity(rows.len());
    add_rows(rows, 0, &mut read);
    read
}

fn add_rows(rows: Vec<LayoutRow>, level: usize, read: &mut Vec<LayoutRow>) {
    if LEVELS_MAX <= level {
        read.extend(rows);
        return;
    }
    let mut band: Vec<LayoutRow> = Vec::new();
    let mut gaps: Vec<ColumnGap> = Vec::new();
    let page = page_gap(&rows);
    for row in rows {
        let left = find_remaining_gaps(&gaps, &row);
        let goes_on = !band.is_empty() && !left.is_empty();
        if goes_on {
            gaps = left;
        } else {
            add_band(std::mem::take(&mut band), &gaps, level, read);
            gaps = find_remaining_gaps(&[page], &row);
        }
        band.push(row);
    }
    add_band(band, &gaps, level, read);
}

/// Orders rows with common gaps.
fn add_band(mut band: Vec<LayoutRow>, gaps: &[ColumnGap], level: usize, read: &mut Vec<LayoutRow>) {
    for gap in gaps {
        // A separately drawn left side, followed by the right side, indicates columns.
        let count = count_separate_rows(&band, gap);
        if are_columns(&band[..count], gap, LINES_MIN, LINE_CHARACTERS_MIN) {
            let rest = band.split_off(count);
            let (left, right) = split_at_gap(band, gap);
            add_rows(left, level + 1, read);
            add_rows(right, level + 1, read);
            add_rows(rest, level + 1, read);
            return;
        }
        if are_columns(&band, gap, MIXED_LINES_MIN, MIXED_LINE_CHARACTERS_MIN) {
            let (left, right) = split_at_gap(band, gap);
            add_rows(left, level + 1, read);
            add_rows(right, level + 1, read);
            return;
        }
    }
    read.extend(band);
}

/// The number of rows whose left part was drawn before any right part.
fn count_separate_rows(band: &[LayoutRow], gap: &ColumnGap) -> usize {
    let middle = gap.middle();
    let (mut last_left, mut first_right) = (0, usize::MAX);
    let is_mixed = |row: &LayoutRow| {
        for run in &row.runs {
            if run.left < middle {
                last_left = last_left.max(run.order);
            } else {
                first_right = first_right.min(run.order);
            }
        }
        first_right < last_left
    };
    band.iter().position(is_mixed).unwrap_or(band.len())
}

/// A vertical strip without text.
#[derive(Debug, Clone, Copy)]
struct ColumnGap {
    left: f64,
    right: f64,
}

impl ColumnGap {
    fn width(&self) -> f64 {
        self.right - self.left
    }

    fn middle(&self) -> f64 {
        self.left.midpoint(self.right)
    }
}

fn page_gap(rows: &[LayoutRow]) -> ColumnGap {
    let runs = || rows.iter().flat_map(|row| &row.runs);
    let left = runs().map(|run| run.left).fold(f64::INFINITY, f64::min);
    let right = runs().map(|run| run.right).fold(f64::NEG_INFINITY, f64::max);
    ColumnGap { left, right }
}

/// The remaining gaps after a row. Both are sorted from left to right.
fn find_remaining_gaps(gaps: &[ColumnGap], row: &LayoutRow) -> Vec<ColumnGap> {
    let size = row.runs.iter().map(|run| run.size).fold(0.0, f64::max);
    let mut left = Vec::new();
    for gap in gaps {
        let mut start = gap.left;
        for run in &row.runs {
            let is_here = start < run.right && run.left < gap.right;
            if is_here {
                left.push(ColumnGap { left: start, right: run.left });
                start = run.right;
            }
        }
        left.push(ColumnGap { left: start, right: gap.right });
    }
    left.retain(|gap| CELL_GAP * size * 0.8 <= gap.width());
    if GAPS_MAX < left.len() {
        left.sort_by(|a, b| b.width().total_cmp(&a.width()));
        left.truncate(GAPS_MAX);
        left.sort_by(|a, b| a.left.total_cmp(&b.left));
    }
    left
}

/// Splits rows into the parts left and right of the gap.
fn split_at_gap(band: Vec<LayoutRow>, gap: &ColumnGap) -> (Vec<LayoutRow>, Vec<LayoutRow>) {
    let middle = gap.middle();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for row in band {
        let (before, behind) = row.runs.into_iter().partition(|run| run.left < middle);
        for (side, runs) in [(&mut left, before), (&mut right, behind)] {
            let runs: Vec<PlacedRun> = runs;
            if !runs.is_empty() {
                side.push(LayoutRow { runs });
            }
        }
    }
    (left, right)
}

/// True if both sides have enough lines that are long enough.
fn are_columns(
    band: &[LayoutRow],
    gap: &ColumnGap,
    lines_min: usize,
    characters_min: usize,
) -> bool {
    let middle = gap.middle();
    let (mut left, mut right) = (ColumnCounts::default(), ColumnCounts::default());
    for row in band {
        for (side, is_left) in [(&mut left, true), (&mut right, false)] {
            let runs = row.runs.iter().filter(|run| (run.left < middle) == is_left);
            let characters: usize = runs.map(|run| run.text.chars().count()).sum();
            side.lines += usize::from(0 < characters);
            side.characters += characters;
        }
    }
    [left, right]
        .iter()
        .all(|side| lines_min <= side.lines && characters_min * side.lines <= side.characters)
}

#[derive(Default)]
struct ColumnCounts {
    lines: usize,
    characters: usize,
}
