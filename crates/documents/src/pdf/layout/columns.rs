//! Detects columns and puts all rows in reading order.

use super::{CELL_GAP, Placed, Row};

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
pub(super) fn in_order(rows: Vec<Row>) -> Vec<Row> {
    let mut read = Vec::with_capacity(rows.len());
    add(rows, 0, &mut read);
    read
}

fn add(rows: Vec<Row>, level: usize, read: &mut Vec<Row>) {
    if LEVELS_MAX <= level {
        read.extend(rows);
        return;
    }
    let mut band: Vec<Row> = Vec::new();
    let mut gaps: Vec<Gap> = Vec::new();
    let page = page_gap(&rows);
    for row in rows {
        let left = remaining(&gaps, &row);
        let goes_on = !band.is_empty() && !left.is_empty();
        if goes_on {
            gaps = left;
        } else {
            add_band(std::mem::take(&mut band), &gaps, level, read);
            gaps = remaining(&[page], &row);
        }
        band.push(row);
    }
    add_band(band, &gaps, level, read);
}

/// Orders rows with common gaps.
fn add_band(mut band: Vec<Row>, gaps: &[Gap], level: usize, read: &mut Vec<Row>) {
    for gap in gaps {
        // A separately drawn left side, followed by the right side, indicates columns.
        let count = drawn_apart(&band, gap);
        if are_columns(&band[..count], gap, LINES_MIN, LINE_CHARACTERS_MIN) {
            let rest = band.split_off(count);
            let (left, right) = parted(band, gap);
            add(left, level + 1, read);
            add(right, level + 1, read);
            add(rest, level + 1, read);
            return;
        }
        if are_columns(&band, gap, MIXED_LINES_MIN, MIXED_LINE_CHARACTERS_MIN) {
            let (left, right) = parted(band, gap);
            add(left, level + 1, read);
            add(right, level + 1, read);
            return;
        }
    }
    read.extend(band);
}

/// The number of rows whose left part was drawn before any right part.
fn drawn_apart(band: &[Row], gap: &Gap) -> usize {
    let middle = gap.middle();
    let (mut last_left, mut first_right) = (0, usize::MAX);
    let is_mixed = |row: &Row| {
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
struct Gap {
    left: f64,
    right: f64,
}

impl Gap {
    fn width(&self) -> f64 {
        self.right - self.left
    }

    fn middle(&self) -> f64 {
        self.left.midpoint(self.right)
    }
}

fn page_gap(rows: &[Row]) -> Gap {
    let runs = || rows.iter().flat_map(|row| &row.runs);
    let left = runs().map(|run| run.left).fold(f64::INFINITY, f64::min);
    let right = runs().map(|run| run.right).fold(f64::NEG_INFINITY, f64::max);
    Gap { left, right }
}

/// The remaining gaps after a row. Both are sorted from left to right.
fn remaining(gaps: &[Gap], row: &Row) -> Vec<Gap> {
    let size = row.runs.iter().map(|run| run.size).fold(0.0, f64::max);
    let mut left = Vec::new();
    for gap in gaps {
        let mut start = gap.left;
        for run in &row.runs {
            let is_here = start < run.right && run.left < gap.right;
            if is_here {
                left.push(Gap { left: start, right: run.left });
                start = run.right;
            }
        }
        left.push(Gap { left: start, right: gap.right });
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
fn parted(band: Vec<Row>, gap: &Gap) -> (Vec<Row>, Vec<Row>) {
    let middle = gap.middle();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for row in band {
        let (before, behind) = row.runs.into_iter().partition(|run| run.left < middle);
        for (side, runs) in [(&mut left, before), (&mut right, behind)] {
            let runs: Vec<Placed> = runs;
            if !runs.is_empty() {
                side.push(Row { runs });
            }
        }
    }
    (left, right)
}

/// True if both sides have enough lines that are long enough.
fn are_columns(band: &[Row], gap: &Gap, lines_min: usize, characters_min: usize) -> bool {
    let middle = gap.middle();
    let (mut left, mut right) = (Side::default(), Side::default());
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
struct Side {
    lines: usize,
    characters: usize,
}
