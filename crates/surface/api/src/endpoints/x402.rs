//! Wallets: topping up, balance and history.

pub(super) mod balance;
pub(super) mod top_up;
pub(super) mod transactions;

use http_frame::caller::SignedInWallet;
use http_frame::refusal::Refusal;
use schema_check::ValidationFaults;
use wallet::WalletAddress;
use wire::wallets::WalletPath;

/// The wallet in the path, if it is the one that signed in.
fn require_own_wallet(
    caller: &SignedInWallet,
    path: &WalletPath,
) -> Result<WalletAddress, Refusal> {
    let asked = WalletAddress::parse(&path.wallet_address).ok_or_else(|| {
        let message = "The wallet address is not valid: 0x and 40 hexadecimal digits on Base, 32 \
                       bytes in base58 on Solana.";
        Refusal::invalid_request(&ValidationFaults::one(["walletAddress"], message))
    })?;
    match caller.0.wallet() {
        Some(wallet) if wallet == asked => Ok(wallet),
        _ => Err(Refusal::wallet_mismatch()),
    }
}
