//! Signatures of thinking blocks: they prove that a block came from this service, for the same model
//! and owner, and was not changed.
//!
//! If the client asked for blocks without their text, the signature also contains the text, so that
//! it can be sent back to a model that needs it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac};
use http_frame::session_state::SessionState;
use ledger_core::OwnerId;
use sha2::Sha256;

/// Begins our signatures, so that foreign ones are recognised without a computation.
const PREFIX: &str = "tgs1.";

/// The form in which a client gets thinking blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThinkingDisplay {
    Shown,
    /// The block is sent with an empty text.
    Omitted,
    /// No block is sent: the client turned thinking off.
    Absent,
}

/// Signs and verifies thinking blocks of one model for one owner.
#[derive(Clone)]
pub(super) struct ThinkingSeal(Hmac<Sha256>);

impl ThinkingSeal {
    pub(super) fn new(sessions: &SessionState, model: &str, owner: OwnerId) -> ThinkingSeal {
        ThinkingSeal::from_mac(sessions.signer.begin_thinking_mac(), model, owner)
    }

    fn from_mac(mut mac: Hmac<Sha256>, model: &str, owner: OwnerId) -> ThinkingSeal {
        mac.update(owner.0.as_bytes());
        mac.update(model.as_bytes());
        mac.update(&[0]);
        ThinkingSeal(mac)
    }

    pub(super) fn sign(&self, text: &str, display: ThinkingDisplay) -> String {
        let mac = URL_SAFE_NO_PAD.encode(self.compute_mac(text).finalize().into_bytes());
        match display {
            ThinkingDisplay::Shown => format!("{PREFIX}{mac}"),
            ThinkingDisplay::Omitted | ThinkingDisplay::Absent => {
                format!("{PREFIX}{mac}.{}", URL_SAFE_NO_PAD.encode(text))
            }
        }
    }

    /// The text of a block, if its signature is ours.
    pub(super) fn open(&self, shown: &str, signature: &str) -> Option<String> {
        let signed = signature.strip_prefix(PREFIX)?;
        let (mac, text) = match signed.split_once('.') {
            Some((mac, sealed)) => {
                (mac, String::from_utf8(URL_SAFE_NO_PAD.decode(sealed).ok()?).ok()?)
            }
            None => (signed, shown.to_owned()),
        };
        let mac = URL_SAFE_NO_PAD.decode(mac).ok()?;
        self.compute_mac(&text).verify_slice(&mac).ok()?;
        Some(text)
    }

    fn compute_mac(&self, text: &str) -> Hmac<Sha256> {
        let mut mac = self.0.clone();
        mac.update(text.as_bytes());
        mac
    }
}

/// True for signatures of this service, valid or not. Other signatures are a provider's.
pub(super) fn is_own_signature(signature: &str) -> bool {
    signature.starts_with(PREFIX)
}

#[cfg(test)]
pub(super) mod tests {
    use hmac::KeyInit;
    use uuid::Uuid;

    use super::*;

    pub(in crate::endpoints::messages) fn seal(model: &str, owner: u128) -> ThinkingSeal {
        let mac = Hmac::new_from_slice(b"key").unwrap();
        ThinkingSeal::from_mac(mac, model, OwnerId(Uuid::from_u128(owner)))
    }

    #[test]
    fn a_signed_text_is_accepted_for_its_model_and_owner_only() {
        let signature = seal("m", 1).sign("because", ThinkingDisplay::Shown);
        assert_eq!(seal("m", 1).open("because", &signature).as_deref(), Some("because"));
        assert_eq!(seal("m", 1).open("Because", &signature), None, "changed");
        assert_eq!(seal("n", 1).open("because", &signature), None, "another model");
        assert_eq!(seal("m", 2).open("because", &signature), None, "another owner");
        assert_eq!(seal("m", 1).open("because", "EqoBCkgIARAB"), None, "foreign");
        assert_eq!(seal("m", 1).open("because", &signature[..20]), None, "cut");
    }

    #[test]
    fn the_text_of_an_omitted_block_comes_back_with_its_signature() {
        let signature = seal("m", 1).sign("because", ThinkingDisplay::Omitted);
        assert_eq!(seal("m", 1).open("", &signature).as_deref(), Some("because"));
        let forged = signature.replace(&URL_SAFE_NO_PAD.encode("because"), "YQ");
        assert_eq!(seal("m", 1).open("", &forged), None);
    }
}
