//! Solana transactions: in every verified one, the fee payer is safe and the money is ours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer, SigningKey};
use serde_json::json;
use solana_message::VersionedMessage;
use wallet::solana::{
    TOKEN, TOKEN_2022, TRANSACTION_BYTES_MAX, read_payer_fingerprint, token_account,
};
use wallet::{
    PaymentRefusal, SettlementData, SolanaAddress, UnverifiedPayment, VerifiedPayment,
    WalletVerdict, verify_payment,
};

use super::world::{header, now, spoiled, terms};

const SIGNATURE_BYTES: usize = 64;
const TRANSFER_CHECKED: u8 = 12;
/// The fee of two signatures plus the highest allowed compute price.
const FEE_LAMPORTS_MAX: u64 = 2 * 5_000 + 100_000 * 5_000_000 / 1_000_000;

/// Takes the input as a whole transaction, and as a message that the known payer signs.
pub(crate) fn solana_transaction(bytes: &[u8]) -> bool {
    let is_verified = check(bytes);
    if let Some(mark) = read_payer_fingerprint(bytes) {
        assert!(bytes.windows(SIGNATURE_BYTES).any(|part| part == mark.signature));
    }
    let payer = SigningKey::from_bytes(&[17; 32]);
    let mut signed = vec![2];
    signed.extend([0; SIGNATURE_BYTES]);
    signed.extend(payer.sign(bytes).to_bytes());
    signed.extend(bytes);
    let is_signed = check(&signed);
    if is_signed {
        let judged = judge(&spoiled(&signed, bytes));
        assert!(judged.is_err(), "one byte was changed: {judged:?}");
    }
    is_verified || is_signed
}

/// True if the transaction is verified; then all of its instructions are checked again.
fn check(bytes: &[u8]) -> bool {
    let Ok(verified) = judge(bytes) else { return false };
    assert!(bytes.len() <= TRANSACTION_BYTES_MAX);
    let SettlementData::Solana(payment) = &verified.settlement else {
        panic!("it is a payment on Solana");
    };
    let message: VersionedMessage =
        wincode::deserialize_exact(payment.message()).expect("it was read before");
    let terms = terms().solana.expect("Solana is offered");
    let keys: Vec<SolanaAddress> =
        message.static_account_keys().iter().copied().map(SolanaAddress::from).collect();
    assert_eq!(keys.first(), Some(&terms.fee_payer));
    let (mut transfers, mut lamports) = (Vec::new(), 2 * 5_000);
    for instruction in message.instructions() {
        let accounts: Vec<_> =
            instruction.accounts.iter().map(|index| keys[usize::from(*index)]).collect();
        assert!(!accounts.contains(&terms.fee_payer), "the fee payer takes part");
        let program = keys[usize::from(instruction.program_id_index)];
        if program == TOKEN || program == TOKEN_2022 {
            let (kind, rest) = instruction.data.split_first().expect("it has a kind");
            assert_eq!(*kind, TRANSFER_CHECKED);
            let units = u64::from_le_bytes(rest[..8].try_into().expect("eight bytes"));
            assert_eq!(Some(accounts[2]), token_account(terms.pay_to, program, terms.mint));
            assert_eq!(accounts[1], terms.mint);
            transfers.push((units, accounts[3].to_string()));
        }
        if let [3, price @ ..] = instruction.data.as_slice()
            && program.to_string() == "ComputeBudget111111111111111111111111111111"
        {
            let price = u64::from_le_bytes(price.try_into().expect("eight bytes"));
            lamports += price.saturating_mul(100_000) / 1_000_000;
        }
    }
    assert_eq!(transfers, [(verified.amount.units(), verified.payer.to_string())]);
    assert!(lamports <= FEE_LAMPORTS_MAX, "the fee may come to {lamports} lamports");
    let cosigned = payment.cosign(&[7; SIGNATURE_BYTES]);
    assert_eq!(cosigned[1 + SIGNATURE_BYTES..], bytes[1 + SIGNATURE_BYTES..]);
    true
}

fn judge(transaction: &[u8]) -> Result<VerifiedPayment, PaymentRefusal> {
    let json = json!({
        "x402Version": 2,
        "scheme": "exact",
        "network": "solana",
        "payload": { "transaction": STANDARD.encode(transaction) },
    });
    let payment = UnverifiedPayment::decode(&header(json.to_string().as_bytes()))?;
    match verify_payment(&terms(), &payment, now())? {
        WalletVerdict::Verified(payment) => Ok(payment),
        WalletVerdict::NeedsContractCheck(_) => panic!("Solana has no such contracts"),
    }
}
