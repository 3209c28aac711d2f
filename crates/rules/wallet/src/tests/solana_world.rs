//! Solana transactions for tests: a valid one, and ways to break it.

use ed25519_dalek::{Signer, SigningKey};
use solana_message::compiled_instruction::CompiledInstruction;
use solana_message::v0::MessageAddressTableLookup;
use solana_message::{MessageHeader, VersionedMessage, legacy, v0};

use super::world::{solana, solana_terms};
use crate::SolanaAddress;
use crate::solana::{COMPUTE_BUDGET, LIGHTHOUSE, MEMO, TOKEN, TOKEN_2022, token_account};

/// A transaction before it is compiled. The payer's key is known, the fee payer's is not.
pub(super) struct Draft {
    pub(super) fee_payer: SolanaAddress,
    pub(super) blockhash: [u8; 32],
    pub(super) instructions: Vec<TestInstruction>,
    /// Another required signer, for attacks that add one.
    pub(super) extra_signer: Option<SolanaAddress>,
    payer: SigningKey,
}

pub(super) struct TestInstruction {
    pub(super) program: SolanaAddress,
    pub(super) accounts: Vec<Account>,
    pub(super) data: Vec<u8>,
}

/// An account by its role in the transaction.
#[derive(Clone, Copy)]
pub(super) enum Account {
    Payer,
    FeePayer,
    At(SolanaAddress),
}

pub(super) const ELSEWHERE: SolanaAddress = SolanaAddress::from_bytes([77; 32]);

impl Draft {
    /// A valid payment of five dollars to us.
    pub(super) fn honest() -> Draft {
        let payer = SigningKey::from_bytes(&[17; 32]);
        let mut draft = Draft {
            fee_payer: solana_terms().fee_payer,
            blockhash: [9; 32],
            instructions: Vec::new(),
            extra_signer: None,
            payer,
        };
        let transfer = draft.transfer(TOKEN, 5_000_000);
        draft.instructions = vec![budget(&[2, 0, 0, 0, 0]), budget(&[3; 9]), transfer];
        draft.set_compute_limit(20_000);
        draft.set_compute_price(1);
        draft
    }

    pub(super) fn payer_address(&self) -> SolanaAddress {
        SolanaAddress::from_bytes(self.payer.verifying_key().to_bytes())
    }

    pub(super) fn transfer(&self, program: SolanaAddress, units: u64) -> TestInstruction {
        let terms = solana_terms();
        let source = token_account(self.payer_address(), program, terms.mint).unwrap();
        let destination = token_account(terms.pay_to, program, terms.mint).unwrap();
        let accounts = vec![
            Account::At(source),
            Account::At(terms.mint),
            Account::At(destination),
            Account::Payer,
        ];
        let data = [&[12], &units.to_le_bytes()[..], &[6]].concat();
        TestInstruction { program, accounts, data }
    }

    pub(super) fn set_compute_limit(&mut self, units: u32) {
        self.instructions[0].data = [&[2], &units.to_le_bytes()[..]].concat();
    }

    pub(super) fn set_compute_price(&mut self, micro_lamports: u64) {
        self.instructions[1].data = [&[3], &micro_lamports.to_le_bytes()[..]].concat();
    }

    pub(super) fn set_units(&mut self, units: u64) {
        self.instructions[2] = self.transfer(TOKEN, units);
    }

    pub(super) fn use_token_2022(&mut self) {
        self.instructions[2] = self.transfer(TOKEN_2022, 5_000_000);
    }

    pub(super) fn add_memo(&mut self, memo: &[u8], accounts: &[Account]) {
        let (accounts, data) = (accounts.to_vec(), memo.to_vec());
        self.instructions.push(TestInstruction { program: MEMO, accounts, data });
    }

    pub(super) fn add_lighthouse(&mut self) {
        let accounts = vec![Account::Payer];
        self.instructions.push(TestInstruction { program: LIGHTHOUSE, accounts, data: vec![1] });
    }

    pub(super) fn add_create_token_account(&mut self) {
        let program = solana("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
        let accounts = vec![Account::Payer, Account::At(ELSEWHERE)];
        self.instructions.push(TestInstruction { program, accounts, data: vec![1] });
    }

    /// The bytes that a client sends: signed by the payer, with an empty signature of the fee
    /// payer.
    pub(super) fn signed(&self) -> Vec<u8> {
        self.sign(&VersionedMessage::V0(self.message()))
    }

    /// The same transaction in the legacy format.
    pub(super) fn signed_as_legacy(&self) -> Vec<u8> {
        let message = self.message();
        self.sign(&VersionedMessage::Legacy(legacy::Message {
            header: message.header,
            account_keys: message.account_keys,
            recent_blockhash: message.recent_blockhash,
            instructions: message.instructions,
        }))
    }

    /// The same transaction with an account from a lookup table.
    pub(super) fn signed_with_lookup_table(&self) -> Vec<u8> {
        let mut message = self.message();
        message.address_table_lookups = vec![MessageAddressTableLookup {
            account_key: *ELSEWHERE.inner(),
            writable_indexes: vec![0],
            readonly_indexes: Vec::new(),
        }];
        self.sign(&VersionedMessage::V0(message))
    }

    fn sign(&self, message: &VersionedMessage) -> Vec<u8> {
        let message = wincode::serialize(message).unwrap();
        let signers: u8 = if self.extra_signer.is_some() { 3 } else { 2 };
        let mut bytes = vec![signers];
        bytes.extend([0; 64]);
        bytes.extend(self.payer.sign(&message).to_bytes());
        bytes.extend(vec![0; 64 * (usize::from(signers) - 2)]);
        bytes.extend(message);
        bytes
    }

    fn message(&self) -> v0::Message {
        let mut keys = vec![self.fee_payer, self.payer_address()];
        keys.extend(self.extra_signer);
        let signers = keys.len();
        let instructions = self
            .instructions
            .iter()
            .map(|step| CompiledInstruction {
                program_id_index: index(&mut keys, step.program),
                accounts: step.accounts.iter().map(|it| self.index(&mut keys, *it)).collect(),
                data: step.data.clone(),
            })
            .collect();
        v0::Message {
            header: MessageHeader {
                num_required_signatures: u8::try_from(signers).unwrap(),
                num_readonly_signed_accounts: 1,
                num_readonly_unsigned_accounts: 0,
            },
            account_keys: keys.iter().map(|key| *key.inner()).collect(),
            recent_blockhash: self.blockhash.into(),
            instructions,
            address_table_lookups: Vec::new(),
        }
    }

    fn index(&self, keys: &mut Vec<SolanaAddress>, account: Account) -> u8 {
        match account {
            Account::Payer => index(keys, self.payer_address()),
            Account::FeePayer => index(keys, self.fee_payer),
            Account::At(address) => index(keys, address),
        }
    }
}

fn budget(data: &[u8]) -> TestInstruction {
    TestInstruction { program: COMPUTE_BUDGET, accounts: Vec::new(), data: data.to_vec() }
}

fn index(keys: &mut Vec<SolanaAddress>, key: SolanaAddress) -> u8 {
    let position = keys.iter().position(|it| *it == key).unwrap_or_else(|| {
        keys.push(key);
        keys.len() - 1
    });
    u8::try_from(position).unwrap()
}
