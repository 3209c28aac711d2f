//! `[x402]`: payments in USDC by wallets without an account.

use std::time::Duration;

use money::Nano;

use crate::key_type::{
    AMOUNT, BASE_URL, SECRET, SECRET_URL, SECRET_URLS, TEXT, choice, integer, seconds,
};
use crate::reader::TableReader;
use crate::secret::SecretString;
use crate::section_table::config_section;

/// Chain ids are positive and fit the signed messages of EIP-155.
const CHAIN_ID_MAX: i64 = i64::MAX;
/// Several hours on Base; a higher value is a typing error.
const CONFIRMATIONS_MAX: i64 = 10_000;
/// About a thousand dollars per transfer; a higher price is a typing error.
const GAS_PRICE_GWEI_MAX: i64 = 10_000;

config_section! {
    /// Payments in USDC by wallets without an account. Disabled unless a receiving address is
    /// set.
    #[section(One, "x402")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct X402Config {
        ..evm: EvmPayments;
        ..solana: SolanaPayments;
        /// The minimum top-up in USD.
        "minimum_usd" => minimum: Nano = AMOUNT, default("5");
        /// The maximum top-up in USD.
        "maximum_usd" => maximum: Nano = AMOUNT, default("10000");
        /// `facilitator` settles payments through a facilitator service; `direct` settles them
        /// from this service.
        settle: SettlementMethod = choice(), default("facilitator");
        /// The URL of the facilitator. Required with `settle = "facilitator"`.
        facilitator_url: Option<String> = BASE_URL, optional;
        /// Time between crediting a payment and its first recheck on the chain; further rechecks
        /// follow at 3, 10, 30 and 60 times this age, because a chain may be reorganized.
        "recheck_after_s" => recheck_after: Duration = seconds(1, 3600), default(60);
        /// The lifetime of payers' authorizations: `maxTimeoutSeconds`.
        "timeout_s" => timeout: Duration = seconds(30, 3600), default(300);
        /// Time that a top-up request waits for settlement before it is reported as pending.
        "settle_wait_s" => settle_wait: Duration = seconds(1, 300), default(60);
        /// The maximum number of top-ups per minute from one address, paid or not, because the
        /// payer is unknown before the payment is verified.
        top_ups_per_minute: u64 = integer(1, 1_000_000), default(10);
    }
    check check_amounts(minimum, maximum);
    check check_settlement(settle);
}

config_section! {
    /// Payments on an EVM chain.
    #[section(Inner, "x402")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EvmPayments {
        // None: payments on the EVM chain are not offered.
        /// The receiving address on Base, 0x and 40 digits.
        "pay_to_evm" => pay_to: Option<String> = TEXT, optional, parse(check_evm_address);
        /// The URL of a node of the EVM chain. Payments are verified with it in both settlement
        /// methods.
        "evm_rpc_url" => rpc_url: Option<SecretString> = SECRET_URL, optional;
        /// URLs of further nodes of the EVM chain, of other providers. All of them must show a
        /// payment before it is credited.
        "evm_rpc_urls" => rpc_urls: Vec<SecretString> = SECRET_URLS, optional;
        /// The private key that pays gas for direct settlement: 0x and 64 digits.
        "evm_relayer_key" => relayer_key: Option<SecretString> = SECRET, optional;
        /// The accepted token on the EVM chain. Default: USDC on Base.
        "asset_evm" => asset: String = TEXT,
            default("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), parse(check_evm_address);
        /// The token's name in signed authorizations (EIP-712).
        "asset_evm_name" => asset_name: String = TEXT, default("USD Coin");
        /// The token's version in signed authorizations (EIP-712).
        "asset_evm_version" => asset_version: String = TEXT, default("2");
        /// The id of the EVM chain. Default: Base.
        chain_id: u64 = integer(1, CHAIN_ID_MAX), default(8453);
        /// The number of confirmations, including the payment's own block, before it is
        /// credited.
        "evm_confirmations" => confirmations: u64 = integer(1, CONFIRMATIONS_MAX), default(1);
        /// The maximum gas price that the relayer pays, in gwei.
        gas_price_max_gwei: u64 = integer(1, GAS_PRICE_GWEI_MAX), default(50);
        /// The maximum amount that the relayer offers for gas per hour, in the chain's coin.
        /// Further payments wait, with a log message.
        gas_max_per_hour: Nano = AMOUNT, default("0.1");
        /// Time that the relayer's transaction may wait to be mined. After that it is replaced
        /// with a higher fee, of at most `gas_price_max_gwei`.
        "replace_after_s" => replace_after: Duration = seconds(1, 3600), default(30);
    }
}

config_section! {
    /// Payments on Solana.
    #[section(Inner, "x402")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SolanaPayments {
        // None: payments on Solana are not offered.
        /// The receiving address on Solana.
        "pay_to_solana" => pay_to: Option<String> = TEXT, optional, parse(check_solana_address);
        /// The URL of a Solana node. Payments are verified with it in both settlement methods.
        "solana_rpc_url" => rpc_url: Option<SecretString> = SECRET_URL, optional;
        /// The private key that pays fees for direct settlement: base58, `hex:` and a seed, or
        /// `file:id.json`.
        "solana_fee_payer_key" => fee_payer_key: Option<SecretString> = SECRET, optional;
        /// The facilitator's address that pays fees on Solana; `tollgate doctor` shows it.
        "solana_fee_payer" => fee_payer: Option<String> = TEXT, optional,
            parse(check_solana_address);
        /// The accepted token on Solana. Default: USDC.
        "asset_solana" => asset: String = TEXT,
            default("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"), parse(check_solana_address);
        /// The maximum amount that the fee payer offers for fees per hour, in SOL. Further
        /// payments wait, with a log message.
        "solana_fees_max_per_hour" => fees_max_per_hour: Nano = AMOUNT, default("0.1");
        /// The Solana cluster.
        "solana_cluster" => cluster: SolanaClusterSetting = choice(), default("mainnet");
        /// The commitment level of a payment on Solana before it is credited.
        "solana_commitment" => commitment: CommitmentSetting = choice(), default("confirmed");
    }
}

domain::named! {
    pub enum SolanaClusterSetting {
        Mainnet = "mainnet",
        Devnet = "devnet",
    }
}

domain::named! {
    pub enum CommitmentSetting {
        Confirmed = "confirmed",
        Finalized = "finalized",
    }
}

domain::named! {
    pub enum SettlementMethod {
        Facilitator = "facilitator",
        Direct = "direct",
    }
}

/// Checks the form only. The wallet code verifies the checksum.
fn check_evm_address(written: String) -> Result<String, String> {
    let digits = written.strip_prefix("0x").unwrap_or_default();
    if digits.len() != 40 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(format!("must be 0x and 40 hexadecimal digits, not {written:?}"));
    }
    Ok(written)
}

fn check_solana_address(written: String) -> Result<String, String> {
    let is_base58 =
        |letter: char| letter.is_ascii_alphanumeric() && !matches!(letter, '0' | 'O' | 'I' | 'l');
    if !(32..=44).contains(&written.len()) || !written.chars().all(is_base58) {
        return Err(format!("must be a base58 address of 32 to 44 characters, not {written:?}"));
    }
    Ok(written)
}

fn check_amounts(reader: &TableReader<'_>, minimum: Option<&Nano>, maximum: Option<&Nano>) {
    if maximum.is_some() && maximum < minimum {
        let message = "`maximum_usd` in [x402] must be at least `minimum_usd`";
        reader.report_fault("maximum_usd", message);
    }
}

/// Reports keys that settlement requires on each enabled chain.
fn check_settlement(reader: &TableReader<'_>, settle: Option<&SettlementMethod>) {
    let need = |pay_to: &str, needed: &[&str]| {
        for name in needed {
            if reader.has_key(pay_to) && !reader.has_key(name) {
                let message = format!(
                    "`{name}` is missing in [x402]: `{pay_to}` is set and settling needs it"
                );
                reader.report_fault(pay_to, message);
            }
        }
    };
    match settle {
        None => {}
        Some(SettlementMethod::Facilitator) => {
            let pay_to = if reader.has_key("pay_to_evm") { "pay_to_evm" } else { "pay_to_solana" };
            need(pay_to, &["facilitator_url"]);
            need("pay_to_evm", &["evm_rpc_url"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer"]);
        }
        Some(SettlementMethod::Direct) => {
            need("pay_to_evm", &["evm_rpc_url", "evm_relayer_key"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer_key"]);
        }
    }
}
