//! Refusals of API keys.

use access::KeyRefusal;

use crate::refusal::Refusal;

pub fn refuse_key(refused: KeyRefusal) -> Refusal {
    match refused {
        KeyRefusal::Mistyped => Refusal::unauthenticated(
            "Authentication failed. The API key is mistyped or cut short; copy it again.",
        ),
        KeyRefusal::Unknown => Refusal::unauthenticated("Authentication failed"),
        KeyRefusal::Revoked => {
            Refusal::unauthenticated("Authentication failed. This API key has been revoked.")
        }
        KeyRefusal::Expired => {
            Refusal::unauthenticated("Authentication failed. This API key has expired.")
        }
        KeyRefusal::Frozen => Refusal::frozen(),
        // Only a store that answered "no such key" may refuse a caller. If the store did not
        // answer, valid keys must not be refused.
        KeyRefusal::Unknowable(error) => Refusal::unavailable(error),
    }
}
