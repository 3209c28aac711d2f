//! Handles of cloned voices.
//!
//! A handle contains the provider's name for the voice and its expiry, with a MAC that also covers
//! the owner and the model. So nothing needs to be stored, and a handle is useless to another
//! account, with another model, or after its expiry.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use moment::Timestamp;
use uuid::Uuid;

pub const PREFIX: &str = "vv_";
/// Maximum that fits, with the rest of the handle, into the 256 characters of a voice name.
pub const NAME_BYTES_MAX: usize = 160;
const EXPIRY_BYTES: usize = 8;
const SEAL_BYTES: usize = 16;

/// The owner and the model of a voice, which the MAC covers.
#[derive(Debug, Clone, Copy)]
pub struct VoiceBinding<'a> {
    pub owner: Uuid,
    pub model: &'a str,
}

/// Computes a MAC under a secret of this service.
pub type VoiceMac<'a> = &'a dyn Fn(&str) -> [u8; 32];

/// Returns a handle; `None` if the provider's name is empty or too long.
pub fn make_voice_handle(
    tie: VoiceBinding<'_>,
    name: &str,
    expires: Timestamp,
    seal: VoiceMac<'_>,
) -> Option<String> {
    if name.is_empty() || NAME_BYTES_MAX < name.len() {
        return None;
    }
    let mut bytes = expires.ms().to_be_bytes().to_vec();
    bytes.extend(&seal(&sealed_text(tie, name, expires.ms()))[..SEAL_BYTES]);
    bytes.extend(name.as_bytes());
    Some(format!("{PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(bytes)))
}

/// The provider's name for the voice; `None` if the handle belongs to another owner or model, or
/// has expired.
pub fn open_voice_handle(
    tie: VoiceBinding<'_>,
    handle: &str,
    now: Timestamp,
    seal: VoiceMac<'_>,
) -> Option<String> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(handle.strip_prefix(PREFIX)?).ok()?;
    let (expiry, rest) = bytes.split_at_checked(EXPIRY_BYTES)?;
    let (told, name) = rest.split_at_checked(SEAL_BYTES)?;
    let expires = i64::from_be_bytes(expiry.try_into().ok()?);
    let name = std::str::from_utf8(name).ok()?;
    let made = seal(&sealed_text(tie, name, expires));
    // Compared in constant time.
    let is_ours = made.iter().zip(told).fold(0, |sum, (one, other)| sum | (one ^ other)) == 0;
    let is_valid = is_ours && now.ms() < expires && !name.is_empty();
    is_valid.then(|| name.to_owned())
}

fn sealed_text(tie: VoiceBinding<'_>, name: &str, expires_ms: i64) -> String {
    format!("voice\0{}\0{}\0{expires_ms}\0{name}", tie.owner, tie.model)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sha2::{Digest, Sha256};

    use super::*;

    fn seal(text: &str) -> [u8; 32] {
        Sha256::digest(text.as_bytes()).into()
    }

    #[test]
    fn a_handle_is_worth_something_to_its_owner_with_its_model_in_time() {
        let now = Timestamp::from_ms(1_000);
        let expires = now.plus(Duration::from_secs(60));
        let mine = VoiceBinding { owner: Uuid::from_u128(1), model: "m" };
        let handle = make_voice_handle(mine, "voice-1", expires, &seal).unwrap();
        assert!(handle.starts_with("vv_") && handle.len() <= 256);
        assert_eq!(open_voice_handle(mine, &handle, now, &seal).as_deref(), Some("voice-1"));
        assert_eq!(open_voice_handle(mine, &handle, expires, &seal), None);
        let others = [
            VoiceBinding { owner: Uuid::from_u128(2), ..mine },
            VoiceBinding { model: "n", ..mine },
        ];
        for tie in others {
            assert_eq!(open_voice_handle(tie, &handle, now, &seal), None);
        }
        for end in 0..handle.len() {
            assert_eq!(open_voice_handle(mine, &handle[..end], now, &seal), None);
        }
        assert_eq!(super::make_voice_handle(mine, &"x".repeat(161), expires, &seal), None);
        assert!(
            super::make_voice_handle(mine, &"x".repeat(160), expires, &seal).unwrap().len() <= 256
        );
    }
}
