//! Ids of Stripe's objects.

use std::fmt;

const ID_BYTES_MAX: usize = 255;

/// An id such as `pi_3Qx…`: 1 to 255 of `A-Z a-z 0-9 _`, so that it can be part of a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StripeId(String);

impl StripeId {
    pub fn parse(text: &str) -> Option<StripeId> {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_sized = (1..=ID_BYTES_MAX).contains(&text.len());
        (is_plain && is_sized).then(|| StripeId(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StripeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
