//! Joins consecutive glyphs to runs of text, with spaces between words.

use super::accent;
use super::matrix::PagePoint;
use crate::fault::{self, DocumentReadError};

/// Maximum runs per page. Maps and drawings have the most.
const RUNS_MAX: usize = 100_000;
/// Gap that separates words, in font sizes. A space is about 0.25, slightly less in tightly set
/// lines.
pub(super) const WORD_GAP: f64 = 0.13;
/// Gap from which on text may be in another column or cell.
pub(super) const CELL_GAP: f64 = 0.9;
/// Maximum overlap with the previous glyph for a continuation.
const OVERLAP_MAX: f64 = 0.5;
/// Maximum vertical offset from the previous glyph for a continuation.
const SHIFT_MAX: f64 = 0.25;
/// Overlap of accents with their letters; accents over capitals are drawn higher.
const ACCENT_OVERLAP_MIN: f64 = 0.2;
const ACCENT_OVERLAP_MAX: f64 = 0.9;
const ACCENT_SHIFT_MAX: f64 = 0.45;

/// A glyph with its position on the page.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlacedGlyph<'a> {
    pub(super) text: &'a str,
    /// Start and end on the baseline.
    pub(super) start: PagePoint,
    pub(super) end: PagePoint,
    pub(super) size: f64,
    /// In degrees, counter-clockwise.
    pub(super) angle: i32,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextRun {
    pub(super) text: String,
    pub(super) start: PagePoint,
    /// End of the last visible glyph.
    pub(super) end: PagePoint,
    pub(super) size: f64,
    pub(super) angle: i32,
}

/// The runs of one page, in drawing order.
#[derive(Debug, Default)]
pub(super) struct TextRunBuilder {
    runs: Vec<TextRun>,
    /// The position after the last glyph, visible or not.
    pen: PagePoint,
    text_bytes: usize,
}

impl TextRunBuilder {
    pub(super) fn finish(self) -> Vec<TextRun> {
        self.runs
    }

    pub(super) fn add(
        &mut self,
        glyph: PlacedGlyph<'_>,
        text_bytes_max: usize,
    ) -> Result<(), DocumentReadError> {
        self.text_bytes += glyph.text.len();
        if text_bytes_max < self.text_bytes {
            return Err(fault::TEXT_TOO_LONG);
        }
        if let Some(run) = self.runs.last_mut()
            && is_accent_pair(run, self.pen, &glyph)
            && accent::join_accent(&mut run.text, glyph.text)
        {
            self.pen = glyph.end;
            run.end = glyph.end;
            return Ok(());
        }
        if let Some(run) = self.runs.last_mut()
            && let Some(gap) = find_following_gap(run, self.pen, &glyph)
        {
            self.pen = glyph.end;
            if WORD_GAP < gap {
                push_space(&mut run.text);
            }
            push_text(&mut run.text, glyph.text);
            if !run.text.ends_with(' ') {
                run.end = glyph.end;
            }
            return Ok(());
        }
        let mut text = String::new();
        push_text(&mut text, glyph.text);
        if text.trim().is_empty() {
            return Ok(());
        }
        if RUNS_MAX <= self.runs.len() {
            return Err(fault::TOO_MUCH_ON_PAGE);
        }
        let PlacedGlyph { start, end, size, angle, .. } = glyph;
        self.pen = end;
        self.runs.push(TextRun { text, start, end, size, angle });
        Ok(())
    }
}

/// The gap between pen and glyph, if the glyph continues the run.
fn find_following_gap(run: &TextRun, pen: PagePoint, glyph: &PlacedGlyph<'_>) -> Option<f64> {
    let (gap, shift) = measure_pen_offset(run, pen, glyph)?;
    let shift_max = if accent::is_accent(glyph.text) { ACCENT_SHIFT_MAX } else { SHIFT_MAX };
    let follows = shift.abs() < shift_max && -OVERLAP_MAX < gap && gap < CELL_GAP;
    follows.then_some(gap)
}

/// True if the glyph and the run's last one may be a letter and its accent.
fn is_accent_pair(run: &TextRun, pen: PagePoint, glyph: &PlacedGlyph<'_>) -> bool {
    measure_pen_offset(run, pen, glyph).is_some_and(|(gap, shift)| {
        let overlaps = -ACCENT_OVERLAP_MAX < gap && gap < -ACCENT_OVERLAP_MIN;
        overlaps && shift.abs() < ACCENT_SHIFT_MAX
    })
}

/// Offset from the pen to the glyph, along and across the line, in font sizes. `None` if the
/// direction differs, or the size by a factor of 1.7 or more.
fn measure_pen_offset(
    run: &TextRun,
    pen: PagePoint,
    glyph: &PlacedGlyph<'_>,
) -> Option<(f64, f64)> {
    let size = run.size.max(glyph.size);
    let is_alike = run.angle == glyph.angle && size < 1.7 * run.size.min(glyph.size);
    if !is_alike {
        return None;
    }
    let (next, pen) = (rotate_upright(glyph.start, run.angle), rotate_upright(pen, run.angle));
    Some(((next.x - pen.x) / size, (next.y - pen.y) / size))
}

/// Rotates a point so that text at this angle becomes upright.
pub(super) fn rotate_upright(point: PagePoint, angle: i32) -> PagePoint {
    // Exact for right angles, as nearly all text is upright.
    let (sine, cosine) = match angle {
        0 => (0.0, 1.0),
        90 => (1.0, 0.0),
        180 => (0.0, -1.0),
        270 => (-1.0, 0.0),
        other => f64::from(other).to_radians().sin_cos(),
    };
    PagePoint { x: point.x * cosine + point.y * sine, y: point.y * cosine - point.x * sine }
}

fn push_space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// Normalises characters: ligatures become letters, all spaces one kind, and invisible characters
/// are dropped.
fn push_text(text: &mut String, added: &str) {
    for character in added.chars() {
        match character {
            'ﬀ' => text.push_str("ff"),
            'ﬁ' => text.push_str("fi"),
            'ﬂ' => text.push_str("fl"),
            'ﬃ' => text.push_str("ffi"),
            'ﬄ' => text.push_str("ffl"),
            'ﬅ' | 'ﬆ' => text.push_str("st"),
            // Word's code for the bullet of the Symbol font.
            '\u{f0b7}' => text.push('•'),
            '\u{ad}' => text.push('-'),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}' => {}
            _ if character.is_whitespace() => push_space(text),
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Glyphs of size and width 10, at these positions of one line.
    #[track_caller]
    fn check(glyphs: &[(&str, f64)], expected: &[&str]) {
        let mut runs = TextRunBuilder::default();
        for (text, x) in glyphs {
            let (start, end) = (PagePoint { x: *x, y: 0.0 }, PagePoint { x: x + 10.0, y: 0.0 });
            let glyph = PlacedGlyph { text, start, end, size: 10.0, angle: 0 };
            runs.add(glyph, 1000).unwrap();
        }
        let texts: Vec<String> = runs.finish().into_iter().map(|run| run.text).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn glyphs_that_touch_are_a_word_and_gaps_part_words() {
        check(&[("a", 0.0), ("b", 10.5), ("c", 22.5)], &["ab c"]);
    }

    #[test]
    fn a_space_that_is_drawn_counts_once() {
        check(&[("a", 0.0), (" ", 10.0), ("b", 22.5)], &["a b"]);
    }

    #[test]
    fn what_is_far_away_or_drawn_over_is_another_run() {
        check(&[("a", 0.0), ("b", 30.0), ("c", 0.0)], &["a", "b", "c"]);
    }

    #[test]
    fn ligatures_are_letters_and_nothing_invisible_is_kept() {
        check(&[("ﬃ\u{200b}", 0.0), ("\u{a0}", 10.0), ("x\u{7}", 20.0)], &["ffi x"]);
    }

    #[test]
    fn accents_join_the_letters_that_they_are_drawn_over() {
        check(&[("na", 0.0), ("¨", 10.0), ("ı", 14.0), ("ve", 24.0)], &["naïve"]);
        check(&[("gar", 0.0), ("c", 10.0), ("¸", 16.0), ("on", 26.0)], &["garçon"]);
        check(&[("a", 0.0), ("¨", 10.0), ("b", 20.0)], &["a¨b"]);
    }

    #[test]
    fn spaces_at_the_end_do_not_make_a_run_longer() {
        let mut runs = TextRunBuilder::default();
        for (text, x) in [("a", 0.0), (" ", 10.0)] {
            let (start, end) = (PagePoint { x, y: 0.0 }, PagePoint { x: x + 10.0, y: 0.0 });
            runs.add(PlacedGlyph { text, start, end, size: 10.0, angle: 0 }, 9).unwrap();
        }
        assert_eq!(runs.finish()[0].end, PagePoint { x: 10.0, y: 0.0 });
    }

    #[test]
    fn a_page_is_not_read_further_than_its_text_may_go() {
        let mut runs = TextRunBuilder::default();
        let (start, end) = (PagePoint { x: 0.0, y: 0.0 }, PagePoint { x: 9.0, y: 0.0 });
        let glyph = PlacedGlyph { text: "ab", start, end, size: 10.0, angle: 0 };
        assert_eq!(runs.add(glyph, 4), Ok(()));
        assert_eq!(runs.add(glyph, 4), Ok(()));
        assert_eq!(runs.add(glyph, 4), Err(fault::TEXT_TOO_LONG));
    }

    #[test]
    fn spaces_alone_are_no_text() {
        check(&[(" ", 0.0), ("\u{a0}", 10.0)], &[]);
    }
}
