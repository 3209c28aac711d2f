//! Ids that prove what they stand for: lists of tools and requests for approval.
//!
//! Nothing is stored. A caller sends the items back, and the id proves that this service made them
//! for the same owner and server. So a changed description of a tool voids its approval.

use hmac::{Hmac, KeyInit, Mac};
use mcp_client::McpTool;
use sha2::Sha256;
use wallet::TokenSecret;

use super::server_choice::McpServerChoice;

/// Separates these keys from all other uses of the secret.
const PURPOSE: &[u8] = b"mcp pins\0";
const LIST_PREFIX: &str = "mcpl_";
const APPROVAL_PREFIX: &str = "mcpr_";
/// Bytes of the proof in an id.
const PROOF_BYTES: usize = 16;

/// Makes and checks ids for one owner.
#[derive(Clone)]
pub(crate) struct McpPins {
    owner_mac: Hmac<Sha256>,
}

/// A call that is to be approved.
#[derive(Clone, Copy)]
pub(crate) struct PinnedCall<'a> {
    pub(crate) server: &'a McpServerChoice,
    pub(crate) tool: &'a McpTool,
    pub(crate) arguments: &'a str,
}

impl McpPins {
    pub(crate) fn new(secret: &TokenSecret, owner: u128) -> McpPins {
        let mut owner_mac =
            Hmac::<Sha256>::new_from_slice(&secret.0).expect("HMAC takes a key of any length");
        owner_mac.update(PURPOSE);
        owner_mac.update(&owner.to_be_bytes());
        McpPins { owner_mac }
    }

    /// The id of a list. `stem` is unique.
    pub(crate) fn build_list_id(
        &self,
        stem: &str,
        server: &McpServerChoice,
        tools: &[McpTool],
    ) -> String {
        let head = format!("{LIST_PREFIX}{stem}");
        let proof = self.begin_list(&head, server, tools).finalize().into_bytes();
        write_id(&head, &proof)
    }

    /// True if this service listed these tools for the same filter.
    pub(crate) fn proves_list(
        &self,
        id: &str,
        server: &McpServerChoice,
        tools: &[McpTool],
    ) -> bool {
        let Some((head, proof)) = split_id(id, LIST_PREFIX) else { return false };
        self.begin_list(head, server, tools).verify_truncated_left(&proof).is_ok()
    }

    fn begin_list(&self, head: &str, server: &McpServerChoice, tools: &[McpTool]) -> Hmac<Sha256> {
        let mut mac = self.begin(head, server);
        feed(&mut mac, format!("{:?}", server.filter.read_only).as_bytes());
        let names = server.filter.names.as_ref();
        feed(&mut mac, &[u8::from(names.is_some())]);
        for name in names.into_iter().flatten().chain(&server.filter.excluded) {
            feed(&mut mac, name.as_bytes());
        }
        for tool in tools {
            feed(&mut mac, &tool.digest());
        }
        mac
    }

    /// The id of a request for approval. `stem` is unique.
    pub(crate) fn build_approval_id(&self, stem: &str, call: PinnedCall<'_>) -> String {
        let head = format!("{APPROVAL_PREFIX}{stem}");
        let proof = self.begin_approval(&head, call).finalize().into_bytes();
        write_id(&head, &proof)
    }

    /// True if the approval is for this call, of a tool that is still described the same.
    pub(crate) fn proves_approval(&self, id: &str, call: PinnedCall<'_>) -> bool {
        let Some((head, proof)) = split_id(id, APPROVAL_PREFIX) else { return false };
        self.begin_approval(head, call).verify_truncated_left(&proof).is_ok()
    }

    fn begin_approval(&self, head: &str, call: PinnedCall<'_>) -> Hmac<Sha256> {
        let mut mac = self.begin(head, call.server);
        feed(&mut mac, &call.tool.digest());
        feed(&mut mac, call.arguments.as_bytes());
        mac
    }

    fn begin(&self, head: &str, server: &McpServerChoice) -> Hmac<Sha256> {
        let mut mac = self.owner_mac.clone();
        for text in [head, &server.label, &server.url] {
            feed(&mut mac, text.as_bytes());
        }
        mac
    }
}

fn feed(mac: &mut Hmac<Sha256>, bytes: &[u8]) {
    mac.update(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
    mac.update(bytes);
}

fn write_id(head: &str, proof: &[u8]) -> String {
    let proof = proof.iter().take(PROOF_BYTES);
    let digits: String = proof.map(|byte| format!("{byte:02x}")).collect();
    format!("{head}_{digits}")
}

/// The part before the proof, and the proof.
fn split_id<'a>(id: &'a str, prefix: &str) -> Option<(&'a str, Vec<u8>)> {
    let (head, digits) = id.rsplit_once('_').filter(|(head, _)| head.starts_with(prefix))?;
    let pairs = digits.as_bytes().chunks(2);
    let proof: Option<Vec<u8>> =
        pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect();
    let proof = proof.filter(|proof| proof.len() == PROOF_BYTES)?;
    Some((head, proof))
}
