//! A sign-in that has begun in a browser: sealed in a cookie, and stored nowhere else.

use std::time::Duration;

use moment::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::encoding::{decode_base64url, encode_base64url};
use crate::identity::PersonId;
use crate::provider::SignInProviderId;
use crate::purpose_mac::PurposeMac;
use crate::return_path::ReturnPath;

/// The time that a person has at the provider, in seconds.
pub const ATTEMPT_LIFETIME_S: u64 = 10 * 60;
/// Longer than any cookie that we make.
pub const ATTEMPT_COOKIE_CHARACTERS_MAX: usize = 2048;

const SEAL_BYTES: usize = 32;
const SIGN_IN: u8 = b's';
const ADD_IDENTITY: u8 = b'a';

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInAttempt {
    /// Random.
    pub id: [u8; 16],
    pub provider: SignInProviderId,
    pub purpose: AttemptPurpose,
    pub return_path: ReturnPath,
    pub expires: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptPurpose {
    SignIn,
    /// Adds an identity to the person of the session that the attempt was begun in.
    AddIdentity(PersonId),
}

impl SignInAttempt {
    /// An attempt that begins now. `id` must be random.
    pub fn begin(
        id: [u8; 16],
        provider: SignInProviderId,
        purpose: AttemptPurpose,
        return_path: ReturnPath,
        now: Timestamp,
    ) -> SignInAttempt {
        let expires = now.plus(Duration::from_secs(ATTEMPT_LIFETIME_S));
        SignInAttempt { id, provider, purpose, return_path, expires }
    }
}

/// Seals attempts, and derives their secrets: `state`, `nonce` and the verifier of PKCE. They follow
/// from the service's secret and the attempt's id, so the cookie does not contain them, and the
/// verifier is not known outside of the service before the code is exchanged.
#[derive(Clone)]
pub struct AttemptSigner(PurposeMac);

impl AttemptSigner {
    /// `secret` is the same on every node; it may be that of the console's sessions.
    pub fn new(secret: &[u8; 32]) -> AttemptSigner {
        AttemptSigner(PurposeMac::new(secret))
    }

    /// The value of the cookie.
    pub fn seal_attempt(&self, attempt: &SignInAttempt) -> String {
        let mut bytes = Vec::with_capacity(128);
        match attempt.purpose {
            AttemptPurpose::SignIn => bytes.push(SIGN_IN),
            AttemptPurpose::AddIdentity(_) => bytes.push(ADD_IDENTITY),
        }
        bytes.extend_from_slice(&attempt.id);
        bytes.extend_from_slice(&attempt.expires.ms().to_be_bytes());
        if let AttemptPurpose::AddIdentity(person) = attempt.purpose {
            bytes.extend_from_slice(person.0.as_bytes());
        }
        bytes.extend_from_slice(attempt.provider.as_str().as_bytes());
        // The path begins with a slash, which no id contains.
        bytes.extend_from_slice(attempt.return_path.as_str().as_bytes());
        let seal = self.0.compute_code("sign-in attempt", &[&bytes]);
        bytes.extend_from_slice(&seal);
        encode_base64url(&bytes)
    }

    /// The attempt in a cookie that we sealed and that has not expired.
    pub fn open_attempt(&self, cookie: &str, now: Timestamp) -> Option<SignInAttempt> {
        if ATTEMPT_COOKIE_CHARACTERS_MAX < cookie.len() {
            return None;
        }
        let bytes = decode_base64url(cookie)?;
        let (sealed, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
        if !self.0.is_code("sign-in attempt", &[sealed], seal) {
            return None;
        }
        let (kind, rest) = sealed.split_first()?;
        let (id, rest) = rest.split_at_checked(16)?;
        let (expires, rest) = rest.split_at_checked(8)?;
        let (purpose, rest) = match *kind {
            SIGN_IN => (AttemptPurpose::SignIn, rest),
            ADD_IDENTITY => {
                let (person, rest) = rest.split_at_checked(16)?;
                let person = PersonId(Uuid::from_slice(person).ok()?);
                (AttemptPurpose::AddIdentity(person), rest)
            }
            _ => return None,
        };
        let rest = str::from_utf8(rest).ok()?;
        let (provider, path) = rest.split_at_checked(rest.find('/')?)?;
        let attempt = SignInAttempt {
            id: id.try_into().ok()?,
            provider: SignInProviderId::parse(provider)?,
            purpose,
            return_path: ReturnPath::parse(path)?,
            expires: Timestamp::from_ms(i64::from_be_bytes(expires.try_into().ok()?)),
        };
        (now < attempt.expires).then_some(attempt)
    }

    /// The value of `state`, which ties the browser's return to its cookie.
    pub fn state(&self, attempt: &SignInAttempt) -> String {
        self.derive_secret("sign-in state", attempt)
    }

    /// The value of `nonce`, which ties the ID token to this attempt.
    pub fn nonce(&self, attempt: &SignInAttempt) -> String {
        self.derive_secret("sign-in nonce", attempt)
    }

    /// The verifier of PKCE, which ties the code to this attempt.
    pub fn code_verifier(&self, attempt: &SignInAttempt) -> String {
        self.derive_secret("sign-in verifier", attempt)
    }

    /// The challenge of PKCE for the method `S256`.
    pub fn code_challenge(&self, attempt: &SignInAttempt) -> String {
        encode_base64url(&Sha256::digest(self.code_verifier(attempt).as_bytes()))
    }

    fn derive_secret(&self, purpose: &str, attempt: &SignInAttempt) -> String {
        let provider = attempt.provider.as_str().as_bytes();
        encode_base64url(&self.0.compute_code(purpose, &[&attempt.id, provider]))
    }
}
