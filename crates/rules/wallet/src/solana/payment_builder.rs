//! Builds an unsigned payment on Solana, for browser wallets that sign a given transaction.

use solana_message::compiled_instruction::CompiledInstruction;
use solana_message::{MessageHeader, VersionedMessage, v0};

use super::fault::SolanaFault;
use super::instructions::{SET_COMPUTE_UNIT_LIMIT, SET_COMPUTE_UNIT_PRICE, TRANSFER_CHECKED};
use super::programs::{COMPUTE_BUDGET, MEMO, TOKEN, token_account};
use crate::address::SolanaAddress;
use crate::amount::{TOKEN_DECIMALS, TokenAmount};
use crate::terms::PaymentTerms;

/// A transfer with a memo takes about 12,000; the rest is for the assertions that wallets add.
const COMPUTE_UNITS: u32 = 60_000;
/// The price that x402 clients offer.
const COMPUTE_PRICE: u64 = 1;
const SIGNERS: u8 = 2;

/// Indexes of the accounts: signers first, then writable ones, then the rest.
const PAYER: u8 = 1;
const SOURCE: u8 = 2;
const DESTINATION: u8 = 3;
const MINT: u8 = 4;
const BUDGET_PROGRAM: u8 = 5;
const TOKEN_PROGRAM: u8 = 6;
const MEMO_PROGRAM: u8 = 7;

/// A transaction that meets the terms once `payer` has signed it. The memo distinguishes two
/// payments of the same amount with the same blockhash.
pub fn unsigned_payment(
    terms: &PaymentTerms,
    payer: SolanaAddress,
    amount: TokenAmount,
    recent_blockhash: [u8; 32],
    memo: &str,
) -> Result<Vec<u8>, SolanaFault> {
    terms.check_amount(amount).map_err(SolanaFault::Amount)?;
    let solana = terms.solana.as_ref().ok_or(SolanaFault::Mint)?;
    if payer == solana.pay_to || payer == solana.fee_payer {
        return Err(SolanaFault::Payer);
    }
    let source = token_account(payer, TOKEN, solana.mint).ok_or(SolanaFault::Payer)?;
    let destination =
        token_account(solana.pay_to, TOKEN, solana.mint).ok_or(SolanaFault::Recipient)?;
    let keys =
        [solana.fee_payer, payer, source, destination, solana.mint, COMPUTE_BUDGET, TOKEN, MEMO];
    let transfer =
        [&[TRANSFER_CHECKED], amount.units().to_le_bytes().as_slice(), &[TOKEN_DECIMALS]].concat();
    let message = v0::Message {
        header: MessageHeader {
            num_required_signatures: SIGNERS,
            num_readonly_signed_accounts: 1,
            num_readonly_unsigned_accounts: 4,
        },
        account_keys: keys.iter().map(|key| *key.inner()).collect(),
        recent_blockhash: recent_blockhash.into(),
        instructions: vec![
            build_instruction(
                BUDGET_PROGRAM,
                &[],
                &encode_argument(SET_COMPUTE_UNIT_LIMIT, &COMPUTE_UNITS.to_le_bytes()),
            ),
            build_instruction(
                BUDGET_PROGRAM,
                &[],
                &encode_argument(SET_COMPUTE_UNIT_PRICE, &COMPUTE_PRICE.to_le_bytes()),
            ),
            build_instruction(TOKEN_PROGRAM, &[SOURCE, MINT, DESTINATION, PAYER], &transfer),
            build_instruction(MEMO_PROGRAM, &[], memo.as_bytes()),
        ],
        address_table_lookups: Vec::new(),
    };
    let message =
        wincode::serialize(&VersionedMessage::V0(message)).map_err(|_| SolanaFault::Unreadable)?;
    Ok([&[SIGNERS], [0; 64 * SIGNERS as usize].as_slice(), &message].concat())
}

fn build_instruction(program: u8, accounts: &[u8], data: &[u8]) -> CompiledInstruction {
    CompiledInstruction {
        program_id_index: program,
        accounts: accounts.to_vec(),
        data: data.to_vec(),
    }
}

fn encode_argument(kind: u8, argument: &[u8]) -> Vec<u8> {
    [&[kind], argument].concat()
}
