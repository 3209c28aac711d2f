//! Content inside the request itself, as base64 data URLs.

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::MediaFault;

/// Maximum bytes of one image, recording, video or document.
pub const BYTES_MAX: usize = 25 * 1024 * 1024;
/// Bytes that base64 encodes as four characters.
const BYTES_PER_GROUP: usize = 3;
const CHARACTERS_MAX: usize = BYTES_MAX.div_ceil(BYTES_PER_GROUP) * 4;

/// A base64 data URL, not decoded yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineMedia<'a> {
    /// In lower case and without parameters, such as `image/png`.
    pub media_type: String,
    pub base64: &'a str,
}

impl<'a> InlineMedia<'a> {
    /// Parses the text after `data:`.
    pub(super) fn parse(rest: &'a str) -> Result<InlineMedia<'a>, MediaFault> {
        let not_base64 = MediaFault("Encode its data URL in base64: data:<type>;base64,<data>.");
        let (head, base64) = rest.split_once(',').ok_or(not_base64)?;
        let mut words = head.split(';');
        let media_type = words.next().unwrap_or_default().trim().to_ascii_lowercase();
        if !words.next_back().is_some_and(|word| word.trim().eq_ignore_ascii_case("base64")) {
            return Err(not_base64);
        }
        Ok(InlineMedia { media_type, base64 })
    }

    pub fn decode_bytes(&self) -> Result<Vec<u8>, MediaFault> {
        decode_base64(self.base64)
    }
}

/// Returns the text after `data:`, if this is a data URL.
pub(super) fn scheme_stripped(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_at_checked("data:".len())?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

/// Decodes base64 of 1 to [`BYTES_MAX`] bytes. Accepts missing padding, which many clients omit.
pub fn decode_base64(base64: &str) -> Result<Vec<u8>, MediaFault> {
    const TOO_LARGE: MediaFault = MediaFault("It exceeds the maximum allowed size of 25 MB.");
    if CHARACTERS_MAX < base64.len() {
        return Err(TOO_LARGE);
    }
    let bytes = LENIENT.decode(base64).map_err(|_| MediaFault("It is not valid base64."))?;
    match bytes.len() {
        0 => Err(MediaFault("It is empty.")),
        1..=BYTES_MAX => Ok(bytes),
        _ => Err(TOO_LARGE),
    }
}

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
