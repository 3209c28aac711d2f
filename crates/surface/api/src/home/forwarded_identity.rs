//! The authenticated identity, as sent from one node to another.

use access::{CallerCredential, CredentialHolder};
use domain::secret::SecretDigest;
use wallet::WalletAddress;

/// Marks a request that another node forwarded.
#[derive(Debug, Clone)]
pub(super) struct ForwardedRequest {
    /// The caller that the first node authenticated.
    pub(super) proved: Option<ForwardedIdentity>,
    /// Times that it was forwarded.
    pub(super) times: u8,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ForwardedIdentity {
    Key(SecretDigest),
    Wallet(WalletAddress),
}

impl ForwardedIdentity {
    pub(super) fn from_holder(holder: &CredentialHolder) -> ForwardedIdentity {
        match &holder.proof {
            CallerCredential::Key(key) => ForwardedIdentity::Key(key.digest),
            CallerCredential::Wallet(wallet) => ForwardedIdentity::Wallet(*wallet),
        }
    }

    pub(super) fn to_text(&self) -> String {
        match self {
            ForwardedIdentity::Key(digest) => {
                let digits = digest.0.iter().map(|byte| format!("{byte:02x}"));
                format!("key {}", digits.collect::<String>())
            }
            ForwardedIdentity::Wallet(wallet) => format!("wallet {wallet}"),
        }
    }

    pub(super) fn parse(text: &str) -> Option<ForwardedIdentity> {
        let (kind, rest) = text.split_once(' ')?;
        match kind {
            "key" => {
                // `from_str_radix` below would accept a sign.
                let is_digest = rest.len() == 64 && rest.bytes().all(|it| it.is_ascii_hexdigit());
                if !is_digest {
                    return None;
                }
                let mut digest = [0; 32];
                for (byte, pair) in digest.iter_mut().zip(rest.as_bytes().chunks(2)) {
                    *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
                }
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
