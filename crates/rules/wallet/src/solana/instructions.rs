//! The instructions that a Solana payment may have: set its fee, move the token once, and add
//! memos.

use super::fault::SolanaFault;
use super::programs::{COMPUTE_BUDGET, LIGHTHOUSE, MEMO, TOKEN, TOKEN_2022};
use super::transaction::SolanaInstruction;
use crate::address::SolanaAddress;
use crate::amount::TOKEN_DECIMALS;

/// Clients ask for 20,000; wallets that add assertions ask for more. With the maximum price below,
/// the priority fee is at most half a million lamports.
const COMPUTE_UNITS_MAX: u32 = 100_000;
/// In millionths of a lamport per compute unit; the protocol's maximum.
const COMPUTE_PRICE_MAX: u64 = 5_000_000;
const MICRO: u64 = 1_000_000;

const INSTRUCTIONS_MIN: usize = 3;
const INSTRUCTIONS_MAX: usize = 7;

pub(super) const SET_COMPUTE_UNIT_LIMIT: u8 = 2;
pub(super) const SET_COMPUTE_UNIT_PRICE: u8 = 3;
pub(super) const TRANSFER_CHECKED: u8 = 12;

/// The only transfer of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenTransfer {
    pub(crate) token_program: SolanaAddress,
    pub(crate) source: SolanaAddress,
    pub(crate) mint: SolanaAddress,
    pub(crate) destination: SolanaAddress,
    pub(crate) authority: SolanaAddress,
    pub(crate) units: u64,
    /// The priority fee besides the signature fees, in lamports.
    pub(crate) priority_fee: u64,
}

/// Checks that every instruction is a known one in its place, and returns the transfer.
pub(crate) fn parse_transfer(
    instructions: &[SolanaInstruction<'_>],
) -> Result<TokenTransfer, SolanaFault> {
    let has_right_count =
        INSTRUCTIONS_MIN <= instructions.len() && instructions.len() <= INSTRUCTIONS_MAX;
    let [limit, price, transfer, remarks @ ..] = instructions else {
        return Err(SolanaFault::InstructionCount);
    };
    if !has_right_count {
        return Err(SolanaFault::InstructionCount);
    }
    let priority_fee = u64::from(compute_limit(limit)?) * compute_price(price)?;
    let priority_fee = priority_fee.div_ceil(MICRO);
    let transfer = read_transfer(transfer, priority_fee).ok_or(SolanaFault::Transfer)?;
    let is_remark = |it: &SolanaInstruction<'_>| it.program == MEMO || it.program == LIGHTHOUSE;
    if !remarks.iter().all(is_remark) {
        return Err(SolanaFault::UnknownInstruction);
    }
    Ok(transfer)
}

fn compute_limit(instruction: &SolanaInstruction<'_>) -> Result<u32, SolanaFault> {
    let units = decode_argument(instruction, SET_COMPUTE_UNIT_LIMIT).map(u32::from_le_bytes);
    match units {
        Some(units) if units <= COMPUTE_UNITS_MAX => Ok(units),
        _ => Err(SolanaFault::ComputeLimit),
    }
}

fn compute_price(instruction: &SolanaInstruction<'_>) -> Result<u64, SolanaFault> {
    let price = decode_argument(instruction, SET_COMPUTE_UNIT_PRICE).map(u64::from_le_bytes);
    match price {
        Some(price) if price <= COMPUTE_PRICE_MAX => Ok(price),
        Some(_) => Err(SolanaFault::ComputePriceTooHigh),
        None => Err(SolanaFault::ComputePrice),
    }
}

/// The argument of a compute budget instruction.
fn decode_argument<const N: usize>(
    instruction: &SolanaInstruction<'_>,
    kind: u8,
) -> Option<[u8; N]> {
    let (first, argument) = instruction.data.split_first()?;
    let is_it = instruction.program == COMPUTE_BUDGET && *first == kind;
    if is_it { argument.try_into().ok() } else { None }
}

fn read_transfer(instruction: &SolanaInstruction<'_>, priority_fee: u64) -> Option<TokenTransfer> {
    let token_program = instruction.program;
    let is_token_program = token_program == TOKEN || token_program == TOKEN_2022;
    // A fifth account would be the signer of a multisignature authority.
    let [source, mint, destination, authority] = *instruction.accounts.as_slice() else {
        return None;
    };
    let (kind, rest) = instruction.data.split_first()?;
    let (units, decimals) = rest.split_first_chunk()?;
    let is_checked_transfer =
        is_token_program && *kind == TRANSFER_CHECKED && decimals == [TOKEN_DECIMALS];
    let units = u64::from_le_bytes(*units);
    is_checked_transfer.then_some(TokenTransfer {
        token_program,
        source,
        mint,
        destination,
        authority,
        units,
        priority_fee,
    })
}
