//! The programs that a payment may call, and the accounts that hold tokens.

use crate::address::SolanaAddress;

pub(crate) const COMPUTE_BUDGET: SolanaAddress =
    SolanaAddress::from_constant("ComputeBudget111111111111111111111111111111");
pub const TOKEN: SolanaAddress =
    SolanaAddress::from_constant("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
pub const TOKEN_2022: SolanaAddress =
    SolanaAddress::from_constant("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
pub(crate) const MEMO: SolanaAddress =
    SolanaAddress::from_constant("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
/// Wallets add its assertions to what they sign, to protect their users. It moves no money.
pub(crate) const LIGHTHOUSE: SolanaAddress =
    SolanaAddress::from_constant("L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95");
const ASSOCIATED_TOKEN: SolanaAddress =
    SolanaAddress::from_constant("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");

/// The associated token account of an owner. None only if no bump seed leads off the curve, which
/// has never been observed.
pub fn token_account(
    owner: SolanaAddress,
    token_program: SolanaAddress,
    mint: SolanaAddress,
) -> Option<SolanaAddress> {
    let (owner, token_program, mint) = (owner.bytes(), token_program.bytes(), mint.bytes());
    let seeds = [owner.as_slice(), &token_program, &mint];
    let program = ASSOCIATED_TOKEN;
    let found = solana_address::Address::try_find_program_address(&seeds, program.inner())?;
    Some(SolanaAddress::from(found.0))
}
