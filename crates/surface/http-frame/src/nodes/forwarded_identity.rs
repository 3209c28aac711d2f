//! The authenticated identity, as sent from one node to another.

use access::{CallerCredential, CredentialHolder};
use domain::secret::SecretDigest;
use wallet::WalletAddress;

use crate::call_terms::CallTerms;

/// Marks a request that another node forwarded, that an endpoint sends to another endpoint, or that
/// is served for a stored caller.
#[derive(Debug, Clone)]
pub(crate) struct ForwardedRequest {
    /// The caller that the first node authenticated.
    pub(crate) proved: Option<ForwardedIdentity>,
    /// Times that it was forwarded.
    pub(crate) times: u8,
    pub(crate) terms: CallTerms,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ForwardedIdentity {
    Key(SecretDigest),
    Wallet(WalletAddress),
}

impl ForwardedIdentity {
    pub(crate) fn from_holder(holder: &CredentialHolder) -> ForwardedIdentity {
        match &holder.proof {
            CallerCredential::Key(key) => ForwardedIdentity::Key(key.digest),
            CallerCredential::Wallet(wallet) => ForwardedIdentity::Wallet(*wallet),
        }
    }

    pub(crate) fn to_text(&self) -> String {
        match self {
            ForwardedIdentity::Key(digest) => {
                format!("key {}", hex::encode(digest.0))
            }
            ForwardedIdentity::Wallet(wallet) => format!("wallet {wallet}"),
        }
    }

    pub(crate) fn parse(text: &str) -> Option<ForwardedIdentity> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "key" => {
                let mut digest = [0; 32];
                hex::decode_to_slice(rest, &mut digest).ok()?;
                Some(ForwardedIdentity::Key(SecretDigest(digest)))
            }
            "wallet" => WalletAddress::parse(rest).map(ForwardedIdentity::Wallet),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_proved_is_read_as_it_was_written() {
        let wallet = WalletAddress::parse("0x00000000000000000000000000000000000000aa").unwrap();
        let digest = std::array::from_fn(|at| u8::try_from(at * 7 % 251).unwrap());
        for proved in
            [ForwardedIdentity::Key(SecretDigest(digest)), ForwardedIdentity::Wallet(wallet)]
        {
            assert_eq!(ForwardedIdentity::parse(&proved.to_text()), Some(proved));
        }
        for wrong in
            ["", "key", "key 00", "wallet x", "admin 1", &format!("key {}", "+f".repeat(32))]
        {
            assert_eq!(ForwardedIdentity::parse(wrong), None, "{wrong}");
        }
    }
}
