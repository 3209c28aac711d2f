//! The sign-in in a header: the signed text itself, or the fields to rebuild it from.

use serde::Deserialize;
use serde_json::Value;

use super::message::{AccountKind, SignInMessage, SignInStatement};
use super::refusal::SignInRefusal;
use crate::encoding::json_header;
use crate::network::{ChainNetwork, SolanaCluster, parse_chain_id};

/// A sign-in as its client sent it, not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub address: String,
    pub message: SignInMessage,
    /// The signed text, byte for byte.
    pub text: String,
    pub signature: String,
    /// The chain named outside of the message, if any.
    pub network: Option<ChainNetwork>,
    /// The client's time of signing, in milliseconds since 1970.
    pub timestamp_ms: Option<i64>,
}

impl SignIn {
    /// Decodes the value of a sign-in header, in either form.
    pub fn decode(header: &[u8]) -> Result<SignIn, SignInRefusal> {
        let json = json_header(header).ok_or(SignInRefusal::InvalidPayload)?;
        let written: SignInJson =
            serde_json::from_value(json).map_err(|_| SignInRefusal::InvalidPayload)?;
        let network = match &written.chain_id {
            Some(chain_id) => Some(read_chain_id(chain_id)?),
            None => None,
        };
        check_kind(written.kind.as_deref(), network)?;
        let (message, text) = match &written.message {
            Some(text) => {
                let message = SignInMessage::parse(text).ok_or(SignInRefusal::ParseError)?;
                (message, text.clone())
            }
            None => written.rebuild_message(network)?,
        };
        let (address, signature) = (written.address, written.signature);
        let timestamp_ms = written.timestamp.map(|timestamp| timestamp as i64);
        Ok(SignIn { address, message, text, signature, network, timestamp_ms })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignInJson {
    address: String,
    signature: String,
    chain_id: Option<Value>,
    #[serde(rename = "type")]
    kind: Option<String>,
    message: Option<String>,
    /// Some clients send fractions of a millisecond.
    timestamp: Option<f64>,
    domain: Option<String>,
    uri: Option<String>,
    version: Option<String>,
    nonce: Option<String>,
    issued_at: Option<String>,
    statement: Option<String>,
    expiration_time: Option<String>,
    not_before: Option<String>,
    request_id: Option<String>,
    resources: Option<Vec<String>>,
}

impl SignInJson {
    /// Rebuilds the signed text from the fields, as clients of that form do.
    fn rebuild_message(
        &self,
        network: Option<ChainNetwork>,
    ) -> Result<(SignInMessage, String), SignInRefusal> {
        let network = network.ok_or(SignInRefusal::InvalidChainId)?;
        let (account_kind, without_statement) = match network {
            ChainNetwork::Evm { .. } => (AccountKind::Ethereum, SignInStatement::Blank),
            ChainNetwork::Solana(_) => (AccountKind::Solana, SignInStatement::Omitted),
        };
        let required = |field: &Option<String>| field.clone().ok_or(SignInRefusal::InvalidPayload);
        let statement = self.statement.clone().filter(|statement| !statement.is_empty());
        let message = SignInMessage {
            domain: required(&self.domain)?,
            account_kind,
            address: self.address.clone(),
            statement: statement.map_or(without_statement, SignInStatement::Text),
            uri: required(&self.uri)?,
            version: required(&self.version)?,
            chain_id: Some(self.chain_reference(network)),
            nonce: self.nonce.clone(),
            issued_at: required(&self.issued_at)?,
            expiration_time: self.expiration_time.clone(),
            not_before: self.not_before.clone(),
            request_id: self.request_id.clone(),
            resources: self.resources.clone().filter(|resources| !resources.is_empty()),
        };
        let text = message.to_string();
        // A line break in a field would let one signed text pass for another set of fields.
        if SignInMessage::parse(&text).as_ref() != Some(&message) {
            return Err(SignInRefusal::InvalidMessage);
        }
        Ok((message, text))
    }

    /// The chain's name in the signed text: wallets whose own sign-in writes `mainnet` have signed
    /// that word.
    fn chain_reference(&self, network: ChainNetwork) -> String {
        let written = self.chain_id.as_ref().and_then(Value::as_str).unwrap_or_default();
        let reference = written.strip_prefix("solana:").unwrap_or(written);
        match SolanaCluster::parse_signed(reference) {
            Some(cluster) if network == ChainNetwork::Solana(cluster) => reference.to_owned(),
            _ => network.reference(),
        }
    }
}

/// Parses 8453, "8453", "eip155:8453", "solana:5eykt…", or a name of Solana's own sign-in.
fn read_chain_id(chain_id: &Value) -> Result<ChainNetwork, SignInRefusal> {
    let evm = |chain_id: u64| ChainNetwork::Evm { chain_id };
    if let Some(number) = chain_id.as_u64() {
        return Ok(evm(number));
    }
    let text = chain_id.as_str().ok_or(SignInRefusal::InvalidChainId)?;
    if let Some(network) =
        parse_chain_id(text).map(evm).or_else(|| ChainNetwork::parse_signed(text))
    {
        return Ok(network);
    }
    let is_of_another_family = text.contains(':') && !text.starts_with("eip155:");
    Err(if is_of_another_family {
        SignInRefusal::UnsupportedChain
    } else {
        SignInRefusal::InvalidChainId
    })
}

/// Checks that the client's signature kind matches the chain, which determines it.
fn check_kind(kind: Option<&str>, network: Option<ChainNetwork>) -> Result<(), SignInRefusal> {
    let is_contradictory = matches!(
        (kind, network),
        (Some("ed25519"), Some(ChainNetwork::Evm { .. }))
            | (Some("eip191" | "eip1271"), Some(ChainNetwork::Solana(_)))
    );
    if is_contradictory { Err(SignInRefusal::InvalidPayload) } else { Ok(()) }
}
