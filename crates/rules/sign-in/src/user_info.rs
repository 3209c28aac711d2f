//! The answer of a userinfo endpoint: claims that a provider leaves out of the ID token.

use thiserror::Error;

use crate::encoding::{parse_object, text_field};
use crate::identity::{IdentityClaims, read_address, read_name};

/// The largest answer that is parsed.
pub const USER_INFO_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UserInfoFault {
    #[error("the provider's answer about the person is not a JSON object, or too large")]
    Malformed,
    /// The answer may be that of another person's token (OpenID Connect Core, 5.3.2).
    #[error("the provider's answer is about another person")]
    OtherSubject,
}

/// Adds the address and the name that an ID token did not have. Ask the endpoint only if `address`
/// is None: what was signed is not replaced.
pub fn add_user_info(
    mut claims: IdentityClaims,
    answer: &[u8],
    trusts_addresses: bool,
) -> Result<IdentityClaims, UserInfoFault> {
    let answer = parse_object(answer, USER_INFO_BYTES_MAX).ok_or(UserInfoFault::Malformed)?;
    if text_field(&answer, "sub") != Some(claims.identity.subject()) {
        return Err(UserInfoFault::OtherSubject);
    }
    if claims.address.is_none() {
        claims.address = read_address(&answer, trusts_addresses);
    }
    if claims.name.is_none() {
        claims.name = read_name(&answer, &["name", "preferred_username"]);
    }
    Ok(claims)
}
