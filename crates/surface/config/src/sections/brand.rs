//! `[brand]`: the operator's name, logo and contact addresses on public pages.

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::SecretResolver;

const NAME_CHARS_MAX: usize = 40;
const LOGO_BYTES_MAX: u64 = 256 * 1024;

pub const SECTION: ConfigSection = ConfigSection {
    name: "brand",
    form: SectionForm::One,
    doc: "The operator's name, logo and addresses on public pages.",
    keys: &[
        ConfigKey::with_default(
            "name",
            ValueKind::Text,
            "\"Tollgate\"",
            "The name of the service on the console, the documentation and `/llms.txt`.",
        ),
        ConfigKey::optional(
            "logo",
            ValueKind::Path,
            "A logo beside the name: SVG, PNG, JPEG or WebP of at most 256 KiB, shown as a square. \
             Relative paths start at the folder of this file.",
        ),
        ConfigKey::optional(
            "support_email",
            ValueKind::Text,
            "The support address, shown on every page and in errors about insufficient credit.",
        ),
        ConfigKey::optional(
            "terms_url",
            ValueKind::Url(HTTP),
            "The URL of the terms of use, linked on every page.",
        ),
        ConfigKey::optional(
            "privacy_url",
            ValueKind::Url(HTTP),
            "The URL of the privacy notice, linked on every page.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandConfig {
    pub name: String,
    pub logo: Option<BrandLogo>,
    pub support_email: Option<String>,
    pub terms_url: Option<String>,
    pub privacy_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandLogo {
    pub bytes: Vec<u8>,
    pub content_type: &'static str,
}

pub(crate) fn read_brand_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<BrandConfig> {
    let name = reader.text("name").map(|name| name.trim().to_owned());
    if name.as_ref().is_some_and(|name| !is_name(name)) {
        let message =
            format!("`name` in [brand] must be 1 to {NAME_CHARS_MAX} characters on one line");
        reader.report_fault("name", message);
    }
    let support_email = reader.text("support_email");
    if support_email.as_ref().is_some_and(|address| !is_address(address)) {
        let message = "`support_email` in [brand] must be an address such as help@example.com";
        reader.report_fault("support_email", message);
    }
    // All keys are read before an error is returned, so that all faults are reported.
    let logo = read_logo(reader, vault);
    let (terms_url, privacy_url) = (reader.url("terms_url"), reader.url("privacy_url"));
    Some(BrandConfig { name: name?, logo, support_email, terms_url, privacy_url })
}

fn read_logo(reader: &TableReader<'_>, vault: &SecretResolver<'_>) -> Option<BrandLogo> {
    let path = reader.path("logo")?;
    let bytes = match vault.read_file(&path, LOGO_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(problem) => {
            reader.report_fault("logo", format!("`logo` in [brand]: {problem}"));
            return None;
        }
    };
    let content_type = content_type(&bytes);
    if content_type.is_none() {
        let message = format!(
            "`logo` in [brand] must be a picture in SVG, PNG, JPEG or WebP; {} is none",
            path.display()
        );
        reader.report_fault("logo", message);
    }
    Some(BrandLogo { bytes, content_type: content_type? })
}

fn is_name(name: &str) -> bool {
    let chars = name.chars().count();
    (1..=NAME_CHARS_MAX).contains(&chars) && !name.chars().any(char::is_control)
}

fn is_address(written: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.+".contains(letter);
    match written.split_once('@') {
        Some((name, host)) => {
            !name.is_empty()
                && name.chars().all(is_plain)
                && host.contains('.')
                && host
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "-.".contains(letter))
        }
        None => false,
    }
}

/// Returns the MIME type of an image by its first bytes.
fn content_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some("image/png");
    }
    if bytes.starts_with(b"\xff\xd8\xff") {
        return Some("image/jpeg");
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    let text = std::str::from_utf8(bytes).ok()?.trim_start_matches('\u{feff}').trim_start();
    let is_svg = text.starts_with("<svg") || text.starts_with("<?xml") && text.contains("<svg");
    is_svg.then_some("image/svg+xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes() {
        assert_eq!(content_type(b"\x89PNG\r\n\x1a\nrest"), Some("image/png"));
        assert_eq!(content_type(b"RIFF1234WEBPVP8 "), Some("image/webp"));
        assert_eq!(content_type(b"\n<svg xmlns='x'/>"), Some("image/svg+xml"));
        assert_eq!(content_type(b"<?xml version='1.0'?><svg/>"), Some("image/svg+xml"));
        for other in [&b"<html><svg></html>"[..], b"GIF89a", b"", b"RIFF1234WAVE"] {
            assert_eq!(content_type(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_address_has_a_name_and_a_host() {
        assert!(is_address("help+billing@example.com"));
        for wrong in ["help", "@example.com", "help@host", "a b@example.com", "a@b.c?x=<script>"] {
            assert!(!is_address(wrong), "{wrong}");
        }
    }
}
