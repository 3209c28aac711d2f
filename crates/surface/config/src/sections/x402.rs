//! `[x402]`: payments in USDC by wallets without an account.

use std::time::Duration;

use money::Nano;

use super::HTTP;
use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::{SecretResolver, SecretString};

/// Chain ids are positive and fit the signed messages of EIP-155.
const CHAIN_ID_MAX: i64 = i64::MAX;
/// Several hours on Base; a higher value is a typing error.
const CONFIRMATIONS_MAX: i64 = 10_000;
/// About a thousand dollars per transfer; a higher price is a typing error.
const GAS_PRICE_GWEI_MAX: i64 = 10_000;

pub const SECTION: ConfigSection = ConfigSection {
    name: "x402",
    form: SectionForm::One,
    doc: "Payments in USDC by wallets without an account. Disabled unless a receiving address is \
          set.",
    keys: &[
        ConfigKey::optional(
            "pay_to_evm",
            ValueKind::Text,
            "The receiving address on Base, 0x and 40 digits.",
        ),
        ConfigKey::optional("pay_to_solana", ValueKind::Text, "The receiving address on Solana."),
        ConfigKey::with_default(
            "minimum_usd",
            ValueKind::Decimal,
            "\"5\"",
            "The minimum top-up in USD.",
        ),
        ConfigKey::with_default(
            "maximum_usd",
            ValueKind::Decimal,
            "\"10000\"",
            "The maximum top-up in USD.",
        ),
        ConfigKey::with_default(
            "settle",
            ValueKind::Choice(&["facilitator", "direct"]),
            "\"facilitator\"",
            "`facilitator` settles payments through a facilitator service; `direct` settles them \
             from this service.",
        ),
        ConfigKey::optional(
            "facilitator_url",
            ValueKind::Url(HTTP),
            "The URL of the facilitator. Required with `settle = \"facilitator\"`.",
        ),
        ConfigKey::optional(
            "evm_rpc_url",
            ValueKind::SecretUrl(HTTP),
            "The URL of a node of the EVM chain. Payments are verified with it in both settlement \
             methods.",
        ),
        ConfigKey::optional(
            "evm_rpc_urls",
            ValueKind::SecretUrls(HTTP),
            "URLs of further nodes of the EVM chain, of other providers. All of them must show a \
             payment before it is credited.",
        ),
        ConfigKey::optional(
            "evm_relayer_key",
            ValueKind::Secret,
            "The private key that pays gas for direct settlement: 0x and 64 digits.",
        ),
        ConfigKey::optional(
            "solana_rpc_url",
            ValueKind::SecretUrl(HTTP),
            "The URL of a Solana node. Payments are verified with it in both settlement methods.",
        ),
        ConfigKey::optional(
            "solana_fee_payer_key",
            ValueKind::Secret,
            "The private key that pays fees for direct settlement: base58, `hex:` and a seed, or \
             `file:id.json`.",
        ),
        ConfigKey::optional(
            "solana_fee_payer",
            ValueKind::Text,
            "The facilitator's address that pays fees on Solana; `tollgate doctor` shows it.",
        ),
        ConfigKey::with_default(
            "asset_evm",
            ValueKind::Text,
            "\"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"",
            "The accepted token on the EVM chain. Default: USDC on Base.",
        ),
        ConfigKey::with_default(
            "asset_evm_name",
            ValueKind::Text,
            "\"USD Coin\"",
            "The token's name in signed authorizations (EIP-712).",
        ),
        ConfigKey::with_default(
            "asset_evm_version",
            ValueKind::Text,
            "\"2\"",
            "The token's version in signed authorizations (EIP-712).",
        ),
        ConfigKey::with_default(
            "asset_solana",
            ValueKind::Text,
            "\"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v\"",
            "The accepted token on Solana. Default: USDC.",
        ),
        ConfigKey::with_default(
            "chain_id",
            ValueKind::Integer { least: 1, most: CHAIN_ID_MAX },
            "8453",
            "The id of the EVM chain. Default: Base.",
        ),
        ConfigKey::with_default(
            "evm_confirmations",
            ValueKind::Integer { least: 1, most: CONFIRMATIONS_MAX },
            "1",
            "The number of confirmations, including the payment's own block, before it is \
             credited.",
        ),
        ConfigKey::with_default(
            "recheck_after_s",
            ValueKind::Seconds { least: 1, most: 3600 },
            "60",
            "Time between crediting a payment and its first recheck on the chain; further rechecks \
             follow at 3, 10, 30 and 60 times this age, because a chain may be reorganized.",
        ),
        ConfigKey::with_default(
            "gas_price_max_gwei",
            ValueKind::Integer { least: 1, most: GAS_PRICE_GWEI_MAX },
            "50",
            "The maximum gas price that the relayer pays, in gwei.",
        ),
        ConfigKey::with_default(
            "gas_max_per_hour",
            ValueKind::Decimal,
            "\"0.1\"",
            "The maximum amount that the relayer offers for gas per hour, in the chain's coin. \
             Further payments wait, with a log message.",
        ),
        ConfigKey::with_default(
            "solana_fees_max_per_hour",
            ValueKind::Decimal,
            "\"0.1\"",
            "The maximum amount that the fee payer offers for fees per hour, in SOL. Further \
             payments wait, with a log message.",
        ),
        ConfigKey::with_default(
            "replace_after_s",
            ValueKind::Seconds { least: 1, most: 3600 },
            "30",
            "Time that the relayer's transaction may wait to be mined. After that it is replaced \
             with a higher fee, of at most `gas_price_max_gwei`.",
        ),
        ConfigKey::with_default(
            "solana_cluster",
            ValueKind::Choice(&["mainnet", "devnet"]),
            "\"mainnet\"",
            "The Solana cluster.",
        ),
        ConfigKey::with_default(
            "solana_commitment",
            ValueKind::Choice(&["confirmed", "finalized"]),
            "\"confirmed\"",
            "The commitment level of a payment on Solana before it is credited.",
        ),
        ConfigKey::with_default(
            "timeout_s",
            ValueKind::Seconds { least: 30, most: 3600 },
            "300",
            "The lifetime of payers' authorizations: `maxTimeoutSeconds`.",
        ),
        ConfigKey::with_default(
            "settle_wait_s",
            ValueKind::Seconds { least: 1, most: 300 },
            "60",
            "Time that a top-up request waits for settlement before it is reported as pending.",
        ),
        ConfigKey::with_default(
            "top_ups_per_minute",
            ValueKind::Integer { least: 1, most: 1_000_000 },
            "10",
            "The maximum number of top-ups per minute from one address, paid or not, because the \
             payer is unknown before the payment is verified.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct X402Config {
    pub evm: EvmPayments,
    pub solana: SolanaPayments,
    pub minimum: Nano,
    pub maximum: Nano,
    pub settle: SettlementMethod,
    pub facilitator_url: Option<String>,
    /// The lifetime of payers' authorizations (`maxTimeoutSeconds`).
    pub timeout: Duration,
    /// Time that a top-up request waits for settlement on the chain.
    pub settle_wait: Duration,
    /// Time between crediting a payment and its first recheck on the chain.
    pub recheck_after: Duration,
    /// Limit per client address.
    pub top_ups_per_minute: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvmPayments {
    /// None: payments on the EVM chain are not offered.
    pub pay_to: Option<String>,
    pub asset: String,
    pub asset_name: String,
    pub asset_version: String,
    pub chain_id: u64,
    pub confirmations: u64,
    pub gas_price_max_gwei: u64,
    /// In the chain's native coin.
    pub gas_max_per_hour: Nano,
    /// Time that a transaction may wait to be mined before it is replaced with a higher fee.
    pub replace_after: Duration,
    pub rpc_url: Option<SecretString>,
    /// Further nodes that must confirm a payment in addition to `rpc_url`.
    pub rpc_urls: Vec<SecretString>,
    pub relayer_key: Option<SecretString>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolanaPayments {
    /// None: payments on Solana are not offered.
    pub pay_to: Option<String>,
    pub asset: String,
    pub cluster: SolanaClusterSetting,
    pub commitment: CommitmentSetting,
    pub rpc_url: Option<SecretString>,
    /// Used for direct settlement.
    pub fee_payer_key: Option<SecretString>,
    /// In SOL.
    pub fees_max_per_hour: Nano,
    /// Used for settlement by a facilitator.
    pub fee_payer: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolanaClusterSetting {
    Mainnet,
    Devnet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitmentSetting {
    Confirmed,
    Finalized,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettlementMethod {
    Facilitator,
    Direct,
}

pub(crate) fn read_x402_config(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<X402Config> {
    let evm = read_evm_payments(reader, vault);
    let solana = read_solana_payments(reader, vault);
    let minimum = reader.decimal("minimum_usd", Nano::parse);
    let maximum = reader.decimal("maximum_usd", Nano::parse);
    let settle = reader.choice("settle").map(|written| match written {
        "direct" => SettlementMethod::Direct,
        _ => SettlementMethod::Facilitator,
    });
    let facilitator_url =
        reader.url("facilitator_url").map(|url| url.trim_end_matches('/').to_owned());
    if maximum < minimum {
        reader
            .report_fault("maximum_usd", "`maximum_usd` in [x402] must be at least `minimum_usd`");
    }
    let (timeout, settle_wait) = (reader.seconds("timeout_s"), reader.seconds("settle_wait_s"));
    let recheck_after = reader.seconds("recheck_after_s");
    let top_ups_per_minute = reader.integer("top_ups_per_minute");
    check_settlement(reader, settle?);
    Some(X402Config {
        evm: evm?,
        solana: solana?,
        minimum: minimum?,
        maximum: maximum?,
        settle: settle?,
        facilitator_url,
        timeout: timeout?,
        settle_wait: settle_wait?,
        recheck_after: recheck_after?,
        top_ups_per_minute: u64::try_from(top_ups_per_minute?).ok()?,
    })
}

fn read_evm_payments(reader: &TableReader<'_>, vault: &SecretResolver<'_>) -> Option<EvmPayments> {
    let pay_to = evm_address(reader, "pay_to_evm");
    let asset = evm_address(reader, "asset_evm");
    let chain_id = reader.integer("chain_id");
    let rpc_url = vault.resolve_url(reader, "evm_rpc_url");
    let rpc_urls = vault.resolve_urls(reader, "evm_rpc_urls").unwrap_or_default();
    let gas_max_per_hour = reader.decimal("gas_max_per_hour", Nano::parse);
    let relayer_key = vault.resolve_secret(reader, "evm_relayer_key");
    let (name, version) = (reader.text("asset_evm_name"), reader.text("asset_evm_version"));
    let confirmations = reader.integer("evm_confirmations");
    let gas_price_max_gwei = reader.integer("gas_price_max_gwei");
    let replace_after = reader.seconds("replace_after_s");
    Some(EvmPayments {
        pay_to,
        asset: asset?,
        asset_name: name?,
        asset_version: version?,
        chain_id: u64::try_from(chain_id?).ok()?,
        confirmations: u64::try_from(confirmations?).ok()?,
        gas_price_max_gwei: u64::try_from(gas_price_max_gwei?).ok()?,
        gas_max_per_hour: gas_max_per_hour?,
        replace_after: replace_after?,
        rpc_url,
        rpc_urls,
        relayer_key,
    })
}

fn read_solana_payments(
    reader: &TableReader<'_>,
    vault: &SecretResolver<'_>,
) -> Option<SolanaPayments> {
    let pay_to = solana_address(reader, "pay_to_solana");
    let asset = solana_address(reader, "asset_solana");
    let rpc_url = vault.resolve_url(reader, "solana_rpc_url");
    let fee_payer_key = vault.resolve_secret(reader, "solana_fee_payer_key");
    let fees_max_per_hour = reader.decimal("solana_fees_max_per_hour", Nano::parse);
    let fee_payer = solana_address(reader, "solana_fee_payer");
    let cluster = reader.choice("solana_cluster").map(|written| match written {
        "devnet" => SolanaClusterSetting::Devnet,
        _ => SolanaClusterSetting::Mainnet,
    });
    let commitment = reader.choice("solana_commitment").map(|written| match written {
        "finalized" => CommitmentSetting::Finalized,
        _ => CommitmentSetting::Confirmed,
    });
    Some(SolanaPayments {
        pay_to,
        asset: asset?,
        cluster: cluster?,
        commitment: commitment?,
        rpc_url,
        fee_payer_key,
        fees_max_per_hour: fees_max_per_hour?,
        fee_payer,
    })
}

/// Checks the form only. The wallet code verifies the checksum.
fn evm_address(reader: &TableReader<'_>, name: &str) -> Option<String> {
    let written = reader.text(name)?;
    let digits = written.strip_prefix("0x").unwrap_or_default();
    let fits = digits.len() == 40 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    if !fits {
        reader.report_fault(
            name,
            format!("`{name}` in [x402] must be 0x and 40 hexadecimal digits, not {written:?}"),
        );
    }
    fits.then_some(written)
}

fn solana_address(reader: &TableReader<'_>, name: &str) -> Option<String> {
    let written = reader.text(name)?;
    let is_base58 =
        |letter: char| letter.is_ascii_alphanumeric() && !matches!(letter, '0' | 'O' | 'I' | 'l');
    let fits = 32 <= written.len() && written.len() <= 44 && written.chars().all(is_base58);
    if !fits {
        reader.report_fault(name, format!("`{name}` in [x402] must be a base58 address of 32 to 44 characters, not {written:?}"));
    }
    fits.then_some(written)
}

/// Reports keys that settlement requires on each enabled chain.
fn check_settlement(reader: &TableReader<'_>, settle: SettlementMethod) {
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
        SettlementMethod::Facilitator => {
            let pay_to = if reader.has_key("pay_to_evm") { "pay_to_evm" } else { "pay_to_solana" };
            need(pay_to, &["facilitator_url"]);
            need("pay_to_evm", &["evm_rpc_url"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer"]);
        }
        SettlementMethod::Direct => {
            need("pay_to_evm", &["evm_rpc_url", "evm_relayer_key"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer_key"]);
        }
    }
}
