//! `[image]`: generated images.

use crate::key_type::TEXT;
use crate::section_table::config_section;

const LETTERS_MAX: usize = 16;

config_section! {
    /// Generated images.
    #[section(One, "image")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ImageConfig {
        /// Text drawn in a corner of every image, unless the caller hides it. Empty: no watermark.
        /// Default: "AI", or none while `[development]` is enabled.
        watermark: Option<String> = TEXT, optional, parse(check_watermark);
    }
}

impl ImageConfig {
    /// Returns the text to draw as a watermark; None for no watermark.
    pub fn watermark_text(&self, is_development: bool) -> Option<String> {
        let usual = if is_development { "" } else { "AI" };
        let mark = self.watermark.as_deref().unwrap_or(usual).trim();
        (!mark.is_empty()).then(|| mark.to_owned())
    }
}

fn check_watermark(mark: String) -> Result<String, String> {
    let is_drawn =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '-' | '.');
    if LETTERS_MAX < mark.len() || !mark.chars().all(is_drawn) {
        return Err(format!("must be at most {LETTERS_MAX} letters, digits, spaces, `-` or `.`"));
    }
    Ok(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_marked_unless_somebody_says_otherwise() {
        let mark = |written: Option<&str>, is_development| {
            ImageConfig { watermark: written.map(str::to_owned) }.watermark_text(is_development)
        };
        assert_eq!(mark(None, false).as_deref(), Some("AI"));
        assert_eq!(mark(None, true), None);
        assert_eq!(mark(Some(""), false), None);
        assert_eq!(mark(Some("mine"), true).as_deref(), Some("mine"));
    }
}
