//! Session cookies: the subject and the expiry, authenticated by HMAC.
//!
//! Nothing is stored, so any node can read a session that another one created, also after a
//! restart. Without the secret a session cannot be forged or extended.

use std::str;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::SecretDigest;
use hmac::{Hmac, KeyInit, Mac};
use moment::Timestamp;
use sha2::Sha256;
use wallet::WalletAddress;

const SEAL_BYTES: usize = 32;
/// The kind, the id and the expiry of the session.
const HEAD_BYTES: usize = 1 + 16 + 8;
/// Longer than any cookie that we create.
const COOKIE_CHARACTERS_MAX: usize = 512;
const KEY: u8 = b'k';
const WALLET: u8 = b'w';

/// The signed-in key or wallet. A key is looked up per request, so a revoked one ends at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionSubject {
    Key(SecretDigest),
    Wallet(WalletAddress),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsoleSession {
    pub id: [u8; 16],
    pub expires: Timestamp,
    pub subject: SessionSubject,
}

pub struct SessionSigner(Hmac<Sha256>);

impl SessionSigner {
    pub fn new(secret: &[u8; 32]) -> SessionSigner {
        SessionSigner(Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    pub fn sign_session(&self, session: &ConsoleSession) -> String {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 64 + SEAL_BYTES);
        bytes.push(match session.subject {
            SessionSubject::Key(_) => KEY,
            SessionSubject::Wallet(_) => WALLET,
        });
        bytes.extend_from_slice(&session.id);
        bytes.extend_from_slice(&session.expires.ms().to_be_bytes());
        match &session.subject {
            SessionSubject::Key(digest) => bytes.extend_from_slice(&digest.0),
            SessionSubject::Wallet(wallet) => {
                bytes.extend_from_slice(wallet.to_string().as_bytes())
            }
        }
        let seal = self.mac("session", &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&seal);
        encode_base64(&bytes)
    }

    /// The session in a cookie with a valid HMAC that has not expired.
    pub(crate) fn verify_cookie(&self, cookie: &str, now: Timestamp) -> Option<ConsoleSession> {
        if COOKIE_CHARACTERS_MAX < cookie.len() {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cookie).ok()?;
        let (sealed, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
        self.mac("session", sealed).verify_slice(seal).ok()?;
        let (head, subject) = sealed.split_at_checked(HEAD_BYTES)?;
        let expires = Timestamp::from_ms(i64::from_be_bytes(head[17..].try_into().ok()?));
        let subject = match head[0] {
            KEY => SessionSubject::Key(SecretDigest(subject.try_into().ok()?)),
            WALLET => SessionSubject::Wallet(WalletAddress::parse(str::from_utf8(subject).ok()?)?),
            _ => return None,
        };
        let session = ConsoleSession { id: head[1..17].try_into().ok()?, expires, subject };
        (now < expires).then_some(session)
    }

    /// CSRF token: a page repeats it in a header to prove that it could read our response.
    pub fn csrf_token(&self, session: &ConsoleSession) -> String {
        encode_base64(&self.mac("proof", &session.id).finalize().into_bytes())
    }

    pub(crate) fn is_csrf_token(&self, session: &ConsoleSession, shown: &str) -> bool {
        let Ok(shown) = URL_SAFE_NO_PAD.decode(shown) else { return false };
        self.mac("proof", &session.id).verify_slice(&shown).is_ok()
    }

    /// An HMAC of the same secret for signatures of thinking blocks.
    pub fn begin_thinking_mac(&self) -> Hmac<Sha256> {
        self.mac("thinking", &[])
    }

    fn mac(&self, purpose: &str, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(bytes);
        mac
    }
}

pub fn encode_base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(subject: SessionSubject) -> ConsoleSession {
        ConsoleSession { id: [3; 16], expires: Timestamp::from_ms(1_000), subject }
    }

    #[test]
    fn what_was_sealed_is_opened_until_it_expires() {
        let sealer = SessionSigner::new(&[1; 32]);
        let wallet = WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap();
        for subject in [SessionSubject::Key(SecretDigest([9; 32])), SessionSubject::Wallet(wallet)]
        {
            let session = session(subject);
            let cookie = sealer.sign_session(&session);
            assert_eq!(sealer.verify_cookie(&cookie, Timestamp::from_ms(999)), Some(session));
            assert_eq!(sealer.verify_cookie(&cookie, Timestamp::from_ms(1_000)), None);
        }
    }

    #[test]
    fn a_cookie_that_was_changed_anywhere_opens_nothing() {
        let sealer = SessionSigner::new(&[1; 32]);
        let cookie = sealer.sign_session(&session(SessionSubject::Key(SecretDigest([9; 32]))));
        let bytes = URL_SAFE_NO_PAD.decode(&cookie).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(
                sealer.verify_cookie(&encode_base64(&changed), Timestamp::from_ms(0)),
                None,
                "byte {index}"
            );
        }
        let other = SessionSigner::new(&[2; 32]);
        assert_eq!(other.verify_cookie(&cookie, Timestamp::from_ms(0)), None);
        assert_eq!(sealer.verify_cookie("", Timestamp::from_ms(0)), None);
    }

    #[test]
    fn a_proof_is_good_for_its_own_session_only() {
        let sealer = SessionSigner::new(&[1; 32]);
        let mine = session(SessionSubject::Key(SecretDigest([9; 32])));
        let other = ConsoleSession { id: [4; 16], ..mine };
        let proof = sealer.csrf_token(&mine);
        assert!(sealer.is_csrf_token(&mine, &proof));
        assert!(!sealer.is_csrf_token(&other, &proof));
        assert!(!sealer.is_csrf_token(&mine, ""));
    }
}
