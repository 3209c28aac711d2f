//! Arranges the text runs of a page in reading order.
//!
//! Runs at one height form a row. Rows are read from top to bottom, unless they are lines of
//! columns: then each column is read to its end. Table cells stay in their rows.

mod columns;
mod direction;

use super::matrix::PagePoint;
use super::run::{CELL_GAP, TextRun, WORD_GAP, rotate_upright};

/// Minimum gap between cells, in font sizes; less is a wide space.
const TAB_GAP: f64 = 1.8;
/// Maximum distance between lines of a paragraph, in font sizes.
const PARAGRAPH_GAP: f64 = 1.8;
/// Extent of letters below and above the baseline, in font sizes.
const DEPTH: f64 = 0.2;
const HEIGHT: f64 = 0.7;
/// Minimum vertical overlap, relative to the smaller of two runs, for one row.
const BESIDE_MIN: f64 = 0.4;

/// The text of a page that is displayed rotated clockwise by `rotation` degrees.
pub(super) fn arrange_text(runs: Vec<TextRun>, rotation: i32) -> String {
    let mut angles: Vec<(i32, Vec<PlacedRun>)> = Vec::new();
    for (order, run) in runs.into_iter().enumerate() {
        let shown = (run.angle - rotation).rem_euclid(360);
        let placed = PlacedRun::new(run, order);
        match angles.iter_mut().find(|(angle, _)| *angle == shown) {
            Some((_, runs)) => runs.push(placed),
            None => angles.push((shown, vec![placed])),
        }
    }
    // Upright text first, then rotated text.
    angles.sort_by_key(|(angle, _)| *angle);
    let mut text = String::new();
    for (_, runs) in angles {
        let mut last: Option<LayoutLine> = None;
        for line in columns::order_rows(group_rows(runs)).into_iter().map(LayoutRow::into_line) {
            let is_apart = last.as_ref().is_none_or(|last| last.is_apart(&line));
            if is_apart && !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&line.text);
            text.push('\n');
            last = Some(line);
        }
    }
    text
}

/// A run in the coordinates of its upright page.
#[derive(Debug, Clone)]
struct PlacedRun {
    text: String,
    left: f64,
    right: f64,
    y: f64,
    size: f64,
    /// Position in drawing order.
    order: usize,
}

impl PlacedRun {
    fn new(run: TextRun, order: usize) -> PlacedRun {
        let [start, end] = [run.start, run.end].map(|it| rotate_upright(it, run.angle));
        let (left, right) = (start.x.min(end.x), start.x.max(end.x));
        let PagePoint { y, .. } = start;
        PlacedRun { text: run.text, left, right, y, size: run.size, order }
    }

    /// True if the two overlap vertically enough to be in one row.
    fn is_beside(&self, other: &PlacedRun) -> bool {
        let top = (self.y + HEIGHT * self.size).min(other.y + HEIGHT * other.size);
        let bottom = (self.y - DEPTH * self.size).max(other.y - DEPTH * other.size);
        BESIDE_MIN * (HEIGHT + DEPTH) * self.size.min(other.size) < top - bottom
    }

    /// True for the same text drawn again with a small offset, which simulates bold.
    fn is_shadow_of(&self, other: &PlacedRun) -> bool {
        let near = 0.2 * self.size;
        self.text == other.text
            && (self.left - other.left).abs() < near
            && (self.y - other.y).abs() < near
    }
}

/// Runs at one height, from left to right.
#[derive(Debug, Clone)]
struct LayoutRow {
    runs: Vec<PlacedRun>,
}

struct LayoutLine {
    text: String,
    y: f64,
    size: f64,
}

impl LayoutLine {
    /// True if another paragraph or column begins.
    fn is_apart(&self, next: &LayoutLine) -> bool {
        let down = self.y - next.y;
        down < 0.0 || PARAGRAPH_GAP * self.size.max(next.size) < down
    }
}

impl LayoutRow {
    fn into_line(self) -> LayoutLine {
        let highest = self.runs.iter().max_by(|a, b| a.size.total_cmp(&b.size));
        let (y, size) = highest.map_or((0.0, 1.0), |run| (run.y, run.size));
        let mut text = String::new();
        let mut end: Option<f64> = None;
        for run in &self.runs {
            let gap = end.map_or(0.0, |end| (run.left - end) / size);
            if TAB_GAP <= gap {
                text.truncate(text.trim_end().len());
                text.push('\t');
            } else if WORD_GAP < gap && !text.ends_with(' ') {
                text.push(' ');
            }
            let is_spaced = text.is_empty() || text.ends_with([' ', '\t']);
            text.push_str(if is_spaced { run.text.trim_start() } else { &run.text });
            end = Some(end.map_or(run.right, |end| end.max(run.right)));
        }
        text.truncate(text.trim_end().len());
        LayoutLine { text: direction::to_reading_order(text), y, size }
    }
}

/// Groups runs into rows, from top to bottom.
fn group_rows(mut runs: Vec<PlacedRun>) -> Vec<LayoutRow> {
    runs.sort_by(|a, b| b.y.total_cmp(&a.y).then(a.left.total_cmp(&b.left)));
    let mut rows: Vec<LayoutRow> = Vec::new();
    let mut highest: Option<PlacedRun> = None;
    for run in runs {
        let is_same = highest.as_ref().is_some_and(|highest| run.is_beside(highest));
        let is_higher = highest.as_ref().is_none_or(|highest| highest.size < run.size);
        if !is_same || is_higher {
            highest = Some(run.clone());
        }
        match rows.last_mut() {
            Some(row) if is_same => row.runs.push(run),
            _ => rows.push(LayoutRow { runs: vec![run] }),
        }
    }
    for row in &mut rows {
        row.runs.sort_by(|a, b| a.left.total_cmp(&b.left).then(a.order.cmp(&b.order)));
        row.runs.dedup_by(|again, first| again.is_shadow_of(first));
    }
    rows
}

#[cfg(test)]
mod tests;
