//! Authentication codes that are bound to a purpose: a code of one purpose is invalid for another.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// A secret of 32 bytes, used as HMAC-SHA256 over a purpose, a zero byte and the data. Secrets that
/// are used with other purposes in the same form, such as that of the console's sessions, may be
/// shared with it.
#[derive(Clone)]
pub(crate) struct PurposeMac(Hmac<Sha256>);

impl PurposeMac {
    pub(crate) fn new(secret: &[u8; 32]) -> PurposeMac {
        PurposeMac(Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    pub(crate) fn compute_code(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        self.begin_code(purpose, parts).finalize().into_bytes().into()
    }

    pub(crate) fn is_code(&self, purpose: &str, parts: &[&[u8]], code: &[u8]) -> bool {
        self.begin_code(purpose, parts).verify_slice(code).is_ok()
    }

    /// Each part is preceded by its length, so that no two lists of parts have the same code.
    fn begin_code(&self, purpose: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        for part in parts {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}
