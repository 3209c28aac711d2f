//! Refusals of API keys.

use access::KeyRefused;

use crate::refusal::Refusal;

pub(crate) fn refuse_key(refused: KeyRefused) -> Refusal {
    match refused {
        KeyRefused::Mistyped => Refusal::unauthenticated(
            "Authentication failed. The API key is mistyped or cut short; copy it again.",
        ),
        KeyRefused::Unknown => Refusal::unauthenticated("Authentication failed"),
        KeyRefused::Revoked => {
            Refusal::unauthenticated("Authentication failed. This API key has been revoked.")
        }
        KeyRefused::Expired => {
            Refusal::unauthenticated("Authentication failed. This API key has expired.")
        }
        KeyRefused::Frozen => Refusal::frozen(),
        // Only a store that answered "no such key" may refuse a caller. If the store did not
        // answer, valid keys must not be refused.
        KeyRefused::Unknowable(error) => Refusal::unavailable(error),
    }
}
