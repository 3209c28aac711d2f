//! `[brand]`: the operator's name, logo and contact addresses on public pages.

use crate::key::ValueKind;
use crate::key_type::{HTTP, KeyType, TEXT, url};
use crate::reader::TableReader;
use crate::section_table::config_section;

const NAME_CHARS_MAX: usize = 40;
const LOGO_BYTES_MAX: u64 = 256 * 1024;
const LOGO: KeyType<BrandLogo> = KeyType { kind: ValueKind::Path, read: read_logo };

config_section! {
    /// The operator's name, logo and addresses on public pages.
    #[section(One, "brand")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct BrandConfig {
        /// The name of the service on the console, the documentation and `/llms.txt`.
        name: String = TEXT, default("Tollgate"), parse(parse_name);
        /// A logo beside the name: SVG, PNG, JPEG or WebP of at most 256 KiB, shown as a square.
        /// Relative paths start at the folder of this file.
        logo: Option<BrandLogo> = LOGO, optional;
        /// The support address, shown on every page and in errors about insufficient credit.
        support_email: Option<String> = TEXT, optional, parse(check_email);
        /// The URL of the terms of use, linked on every page.
        terms_url: Option<String> = url(HTTP), optional;
        /// The URL of the privacy notice, linked on every page.
        privacy_url: Option<String> = url(HTTP), optional;
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrandLogo {
    pub bytes: Vec<u8>,
    pub content_type: &'static str,
}

fn read_logo(reader: &TableReader<'_>, name: &str) -> Option<BrandLogo> {
    let path = reader.path(name)?;
    let bytes = match reader.resolver().read_file(&path, LOGO_BYTES_MAX) {
        Ok(bytes) => bytes,
        Err(problem) => {
            reader.report_fault(name, format!("`{name}` in [brand]: {problem}"));
            return None;
        }
    };
    let content_type = content_type(&bytes);
    if content_type.is_none() {
        let message = format!(
            "`{name}` in [brand] must be a picture in SVG, PNG, JPEG or WebP; {} is none",
            path.display()
        );
        reader.report_fault(name, message);
    }
    Some(BrandLogo { bytes, content_type: content_type? })
}

fn parse_name(written: String) -> Result<String, String> {
    let name = written.trim();
    if NAME_CHARS_MAX < name.chars().count() || name.chars().any(char::is_control) {
        return Err(format!("must be 1 to {NAME_CHARS_MAX} characters on one line"));
    }
    Ok(name.to_owned())
}

fn check_email(written: String) -> Result<String, String> {
    if !is_address(&written) {
        return Err("must be an address such as help@example.com".to_owned());
    }
    Ok(written)
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
