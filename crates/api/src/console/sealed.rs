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
pub(super) enum Subject {
    Key(SecretDigest),
    Wallet(WalletAddress),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: [u8; 16],
    pub(super) expires: Timestamp,
    pub(super) subject: Subject,
}

pub(super) struct Sealer(Hmac<Sha256>);

impl Sealer {
    pub(super) fn new(secret: &[u8; 32]) -> Sealer {
        Sealer(Hmac::new_from_slice(secret).expect("HMAC takes a key of any length"))
    }

    pub(super) fn seal(&self, session: &Session) -> String {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + 64 + SEAL_BYTES);
        bytes.push(match session.subject {
            Subject::Key(_) => KEY,
            Subject::Wallet(_) => WALLET,
        });
        bytes.extend_from_slice(&session.id);
        bytes.extend_from_slice(&session.expires.ms().to_be_bytes());
        match &session.subject {
            Subject::Key(digest) => bytes.extend_from_slice(&digest.0),
            Subject::Wallet(wallet) => bytes.extend_from_slice(wallet.to_string().as_bytes()),
        }
        let seal = self.mac("session", &bytes).finalize().into_bytes();
        bytes.extend_from_slice(&seal);
        text(&bytes)
    }

    /// The session in a cookie with a valid HMAC that has not expired.
    pub(super) fn open(&self, cookie: &str, now: Timestamp) -> Option<Session> {
        if COOKIE_CHARACTERS_MAX < cookie.len() {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cookie).ok()?;
        let (sealed, seal) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
        self.mac("session", sealed).verify_slice(seal).ok()?;
        let (head, subject) = sealed.split_at_checked(HEAD_BYTES)?;
        let expires = Timestamp::from_ms(i64::from_be_bytes(head[17..].try_into().ok()?));
        let subject = match head[0] {
            KEY => Subject::Key(SecretDigest(subject.try_into().ok()?)),
            WALLET => Subject::Wallet(WalletAddress::parse(str::from_utf8(subject).ok()?)?),
            _ => return None,
        };
        let session = Session { id: head[1..17].try_into().ok()?, expires, subject };
        (now < expires).then_some(session)
    }

    /// CSRF token: a page repeats it in a header to prove that it could read our response.
    pub(super) fn proof(&self, session: &Session) -> String {
        text(&self.mac("proof", &session.id).finalize().into_bytes())
    }

    pub(super) fn is_proof(&self, session: &Session, shown: &str) -> bool {
        let Ok(shown) = URL_SAFE_NO_PAD.decode(shown) else { return false };
        self.mac("proof", &session.id).verify_slice(&shown).is_ok()
    }

    fn mac(&self, purpose: &str, bytes: &[u8]) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(purpose.as_bytes());
        mac.update(&[0]);
        mac.update(bytes);
        mac
    }
}

pub(super) fn text(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(subject: Subject) -> Session {
        Session { id: [3; 16], expires: Timestamp::from_ms(1_000), subject }
    }

    #[test]
    fn what_was_sealed_is_opened_until_it_expires() {
        let sealer = Sealer::new(&[1; 32]);
        let wallet = WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap();
        for subject in [Subject::Key(SecretDigest([9; 32])), Subject::Wallet(wallet)] {
            let session = session(subject);
            let cookie = sealer.seal(&session);
            assert_eq!(sealer.open(&cookie, Timestamp::from_ms(999)), Some(session));
            assert_eq!(sealer.open(&cookie, Timestamp::from_ms(1_000)), None);
        }
    }

    #[test]
    fn a_cookie_that_was_changed_anywhere_opens_nothing() {
        let sealer = Sealer::new(&[1; 32]);
        let cookie = sealer.seal(&session(Subject::Key(SecretDigest([9; 32]))));
        let bytes = URL_SAFE_NO_PAD.decode(&cookie).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(sealer.open(&text(&changed), Timestamp::from_ms(0)), None, "byte {index}");
        }
        let other = Sealer::new(&[2; 32]);
        assert_eq!(other.open(&cookie, Timestamp::from_ms(0)), None);
        assert_eq!(sealer.open("", Timestamp::from_ms(0)), None);
    }

    #[test]
    fn a_proof_is_good_for_its_own_session_only() {
        let sealer = Sealer::new(&[1; 32]);
        let mine = session(Subject::Key(SecretDigest([9; 32])));
        let other = Session { id: [4; 16], ..mine };
        let proof = sealer.proof(&mine);
        assert!(sealer.is_proof(&mine, &proof));
        assert!(!sealer.is_proof(&other, &proof));
        assert!(!sealer.is_proof(&mine, ""));
    }
}
