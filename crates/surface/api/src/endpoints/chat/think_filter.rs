//! Removes `<think></think>` blocks from a text that arrives in pieces.

const OPENS: &str = "<think>";
const CLOSES: &str = "</think>";

/// The filter of one choice. A tag may be cut anywhere between two pieces.
#[derive(Debug, Default)]
pub(in crate::endpoints) struct ThoughtFilter {
    /// The end of the text so far, if it may be the start of a tag.
    pending: String,
    is_inside: bool,
    /// Set after a block, to drop the blank lines that follow it.
    trims: bool,
}

impl ThoughtFilter {
    /// The text that may be shown now.
    pub(in crate::endpoints) fn push(&mut self, text: &str) -> String {
        self.pending.push_str(text);
        let mut shown = String::new();
        loop {
            let tag = if self.is_inside { CLOSES } else { OPENS };
            let found = self.pending.find(tag);
            let cut =
                found.unwrap_or_else(|| self.pending.len() - count_tag_overlap(&self.pending, tag));
            let passed: String = self.pending.drain(..cut).collect();
            if !self.is_inside {
                self.append_visible(&passed, &mut shown);
            }
            if found.is_none() {
                return shown;
            }
            self.pending.drain(..tag.len());
            self.trims = self.is_inside;
            self.is_inside = !self.is_inside;
        }
    }

    /// Ends the text: a pending start of a tag was none, and is shown.
    pub(in crate::endpoints) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.pending);
        let mut shown = String::new();
        if !self.is_inside {
            self.append_visible(&rest, &mut shown);
        }
        shown
    }

    fn append_visible(&mut self, text: &str, shown: &mut String) {
        let text = if self.trims { text.trim_start() } else { text };
        self.trims &= text.is_empty();
        shown.push_str(text);
    }
}

/// A whole text without its blocks.
pub(in crate::endpoints) fn strip_thoughts(text: &str) -> String {
    let mut filter = ThoughtFilter::default();
    let mut shown = filter.push(text);
    shown.push_str(&filter.finish());
    shown
}

/// The number of bytes at the end of the text that are a start of the tag.
fn count_tag_overlap(text: &str, tag: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(strip_thoughts(text), expected);
        for cut in (0..=text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let mut filter = ThoughtFilter::default();
            let shown = [filter.push(&text[..cut]), filter.push(&text[cut..]), filter.finish()];
            assert_eq!(shown.concat(), expected, "cut at {cut}");
        }
    }

    #[test]
    fn blocks_are_taken_out_wherever_the_text_is_cut() {
        check("<think>hm</think>\n\nYes.", "Yes.");
        check("Yes. <think>hm</think>No.", "Yes. No.");
        check("<think></think><think>x</think> é", "é");
    }

    #[test]
    fn what_only_looks_like_a_tag_stays() {
        check("a < b <thin", "a < b <thin");
        check("<thinking> aloud", "<thinking> aloud");
    }

    #[test]
    fn a_block_that_never_ends_hides_the_rest() {
        check("So <think>hm", "So ");
    }
}
