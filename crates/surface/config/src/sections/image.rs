//! `[image]`: generated images.

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

const LETTERS_MAX: usize = 16;

pub const SECTION: ConfigSection = ConfigSection {
    name: "image",
    form: SectionForm::One,
    doc: "Generated images.",
    keys: &[ConfigKey::optional(
        "watermark",
        ValueKind::Text,
        "Text drawn in a corner of every image, unless the caller hides it. Empty: no watermark. \
         Default: \"AI\", or none while `[development]` is enabled.",
    )],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageConfig {
    /// The configured watermark; None if the key is absent.
    pub watermark: Option<String>,
}

impl ImageConfig {
    /// Returns the text to draw as a watermark; None for no watermark.
    pub fn watermark_text(&self, is_development: bool) -> Option<String> {
        let usual = if is_development { "" } else { "AI" };
        let mark = self.watermark.as_deref().unwrap_or(usual).trim();
        (!mark.is_empty()).then(|| mark.to_owned())
    }
}

pub(crate) fn read_image_config(reader: &TableReader<'_>) -> Option<ImageConfig> {
    let watermark = reader.text("watermark");
    let is_drawn =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, ' ' | '-' | '.');
    if let Some(mark) = &watermark
        && (LETTERS_MAX < mark.len() || !mark.chars().all(is_drawn))
    {
        let message = format!(
            "`watermark` in [image] must be at most {LETTERS_MAX} letters, digits, spaces, `-` or `.`"
        );
        reader.report_fault("watermark", message);
    }
    Some(ImageConfig { watermark })
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
