//! Reasoning that a caller keeps for us: encrypted with a key of the installation, the owner and the
//! model.
//!
//! Nothing is stored, so any node can open what another one sealed. Reasoning of another owner,
//! model, installation or secret cannot be opened and is left out.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::entropy::EntropySource;
use hmac::{Hmac, KeyInit, Mac};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use sha2::Sha256;
use wallet::TokenSecret;

/// Begins each sealed text, to tell it from those of other services.
const PREFIX: &str = "tgr1.";
/// Separates these keys from all other uses of the secret.
const PURPOSE: &[u8] = b"sealed reasoning\0";

/// The reasoning of one turn of the model.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct TurnReasoning {
    pub(super) text: String,
    /// Array of signed or encrypted blocks, as the engine returned it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) signature: Option<String>,
}

/// Seals and opens reasoning for one owner.
#[derive(Clone)]
pub(super) struct ReasoningSealer {
    /// An HMAC of the secret, the purpose and the owner.
    owner_mac: Hmac<Sha256>,
    entropy: Arc<dyn EntropySource>,
}

impl ReasoningSealer {
    pub(super) fn new(
        secret: &TokenSecret,
        owner: u128,
        entropy: Arc<dyn EntropySource>,
    ) -> ReasoningSealer {
        let mut owner_mac =
            Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes a key of any length");
        owner_mac.update(PURPOSE);
        owner_mac.update(&owner.to_be_bytes());
        ReasoningSealer { owner_mac, entropy }
    }

    /// The sealed text; None if the cipher fails, which it does for no text of ours.
    pub(super) fn seal(&self, model: &str, reasoning: &TurnReasoning) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.entropy.fill_bytes(&mut nonce);
        let mut bytes = serde_json::to_vec(reasoning).ok()?;
        let key = self.build_key(model)?;
        let used = Nonce::assume_unique_for_key(nonce);
        key.seal_in_place_append_tag(used, Aad::empty(), &mut bytes).ok()?;
        let sealed = [nonce.as_slice(), &bytes].concat();
        Some(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(sealed)))
    }

    /// The reasoning in a text that this service sealed for the same owner and model.
    pub(super) fn open(&self, model: &str, sealed: &str) -> Option<TurnReasoning> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(PREFIX)?).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut sealed = sealed.to_vec();
        let plain = self.build_key(model)?.open_in_place(nonce, Aad::empty(), &mut sealed).ok()?;
        serde_json::from_slice(plain).ok()
    }

    fn build_key(&self, model: &str) -> Option<LessSafeKey> {
        let mut mac = self.owner_mac.clone();
        mac.update(model.as_bytes());
        let key = UnboundKey::new(&AES_256_GCM, &mac.finalize().into_bytes()).ok()?;
        Some(LessSafeKey::new(key))
    }
}

/// True if this service sealed the text, or someone who imitates it.
pub(super) fn is_own_seal(sealed: &str) -> bool {
    sealed.starts_with(PREFIX)
}

/// Joins the blocks of a stream: the pieces of one block follow each other.
#[derive(Debug, Default)]
pub(super) struct DetailGatherer(Vec<Value>);

impl DetailGatherer {
    pub(super) fn push(&mut self, details: &RawValue) {
        let pieces: Vec<Value> = serde_json::from_str(details.get()).unwrap_or_default();
        for piece in pieces {
            let is_same = |last: &Value| {
                ["type", "index", "id"].iter().all(|name| last[*name] == piece[*name])
                    && piece["type"] != "reasoning.encrypted"
            };
            match self.0.last_mut().filter(|last| is_same(last)) {
                Some(last) => append_piece(last, piece),
                None => self.0.push(piece),
            }
        }
    }

    pub(super) fn take(&mut self) -> Option<Box<RawValue>> {
        let details = std::mem::take(&mut self.0);
        if details.is_empty() { None } else { to_raw_value(&details).ok() }
    }
}

/// Adds the texts of a piece to its block. Other members, such as a signature, are set.
fn append_piece(block: &mut Value, piece: Value) {
    let (Value::Object(block), Value::Object(piece)) = (block, piece) else { return };
    for (name, value) in piece {
        match (block.get_mut(&name), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => {
                block.insert(name, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::entropy::EntropySource;
    use serde_json::json;

    use super::*;

    struct FixedEntropy;

    impl EntropySource for FixedEntropy {
        fn fill_bytes(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    fn sealer(secret: u8, owner: u128) -> ReasoningSealer {
        ReasoningSealer::new(&TokenSecret([secret; 32]), owner, Arc::new(FixedEntropy))
    }

    #[test]
    fn only_the_same_installation_owner_and_model_open_it() {
        let reasoning = TurnReasoning { text: "Hm.".to_owned(), ..TurnReasoning::default() };
        let sealed = sealer(1, 2).seal("m", &reasoning).unwrap();
        assert!(is_own_seal(&sealed) && !sealed.contains("Hm"));
        assert_eq!(sealer(1, 2).open("m", &sealed).unwrap().text, "Hm.");
        assert!(sealer(2, 2).open("m", &sealed).is_none());
        assert!(sealer(1, 3).open("m", &sealed).is_none());
        assert!(sealer(1, 2).open("n", &sealed).is_none());
        let mut changed = sealed.clone();
        changed.pop();
        for foreign in ["", "gAAAAABo", "tgr1.", "tgr1.AAAA", "tgr1.ü", &changed] {
            assert!(sealer(1, 2).open("m", foreign).is_none(), "{foreign}");
        }
    }

    #[test]
    fn pieces_of_a_block_are_joined_with_its_signature() {
        let mut gathered = DetailGatherer::default();
        for piece in [
            json!([{"type": "reasoning.text", "index": 0, "text": "a"}]),
            json!([{"type": "reasoning.text", "index": 0, "text": "b", "signature": null}]),
            json!([{"type": "reasoning.text", "index": 0, "signature": "s"}]),
            json!([{"type": "reasoning.encrypted", "index": 1, "data": "x"}]),
            json!([{"type": "reasoning.encrypted", "index": 1, "data": "y"}]),
        ] {
            gathered.push(&to_raw_value(&piece).unwrap());
        }
        let whole: Value = serde_json::from_str(gathered.take().unwrap().get()).unwrap();
        assert_eq!(
            whole[0],
            json!({"type": "reasoning.text", "index": 0, "text": "ab", "signature": "s"})
        );
        assert_eq!(whole.as_array().unwrap().len(), 3);
        assert!(gathered.take().is_none());
    }
}
