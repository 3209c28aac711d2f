//! `[x402]`: payments in USDC by wallets without an account.

use std::time::Duration;

use money::Nano;

use super::HTTP;
use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::{Secret, Vault};

/// Chain ids are positive and fit the signed messages of EIP-155.
const CHAIN_ID_MAX: i64 = i64::MAX;
/// Several hours on Base; a higher value is a typing error.
const CONFIRMATIONS_MAX: i64 = 10_000;
/// About a thousand dollars per transfer; a higher price is a typing error.
const GAS_PRICE_GWEI_MAX: i64 = 10_000;

pub const SECTION: Section = Section {
    name: "x402",
    form: Form::One,
    doc: "Payments in USDC by wallets without an account. Disabled unless a receiving address is \
          set.",
    keys: &[
        Key::optional("pay_to_evm", Kind::Text, "The receiving address on Base, 0x and 40 digits."),
        Key::optional("pay_to_solana", Kind::Text, "The receiving address on Solana."),
        Key::with_default("minimum_usd", Kind::Decimal, "\"5\"", "The minimum top-up in USD."),
        Key::with_default("maximum_usd", Kind::Decimal, "\"10000\"", "The maximum top-up in USD."),
        Key::with_default(
            "settle",
            Kind::Choice(&["facilitator", "direct"]),
            "\"facilitator\"",
            "`facilitator` settles payments through a facilitator service; `direct` settles them \
             from this service.",
        ),
        Key::optional(
            "facilitator_url",
            Kind::Url(HTTP),
            "The URL of the facilitator. Required with `settle = \"facilitator\"`.",
        ),
        Key::optional(
            "evm_rpc_url",
            Kind::SecretUrl(HTTP),
            "The URL of a node of the EVM chain. Payments are verified with it in both settlement \
             methods.",
        ),
        Key::optional(
            "evm_rpc_urls",
            Kind::SecretUrls(HTTP),
            "URLs of further nodes of the EVM chain, of other providers. All of them must show a \
             payment before it is credited.",
        ),
        Key::optional(
            "evm_relayer_key",
            Kind::Secret,
            "The private key that pays gas for direct settlement: 0x and 64 digits.",
        ),
        Key::optional(
            "solana_rpc_url",
            Kind::SecretUrl(HTTP),
            "The URL of a Solana node. Payments are verified with it in both settlement methods.",
        ),
        Key::optional(
            "solana_fee_payer_key",
            Kind::Secret,
            "The private key that pays fees for direct settlement: base58, `hex:` and a seed, or \
             `file:id.json`.",
        ),
        Key::optional(
            "solana_fee_payer",
            Kind::Text,
            "The facilitator's address that pays fees on Solana; `tollgate doctor` shows it.",
        ),
        Key::with_default(
            "asset_evm",
            Kind::Text,
            "\"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913\"",
            "The accepted token on the EVM chain. Default: USDC on Base.",
        ),
        Key::with_default(
            "asset_evm_name",
            Kind::Text,
            "\"USD Coin\"",
            "The token's name in signed authorizations (EIP-712).",
        ),
        Key::with_default(
            "asset_evm_version",
            Kind::Text,
            "\"2\"",
            "The token's version in signed authorizations (EIP-712).",
        ),
        Key::with_default(
            "asset_solana",
            Kind::Text,
            "\"EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v\"",
            "The accepted token on Solana. Default: USDC.",
        ),
        Key::with_default(
            "chain_id",
            Kind::Integer { least: 1, most: CHAIN_ID_MAX },
            "8453",
            "The id of the EVM chain. Default: Base.",
        ),
        Key::with_default(
            "evm_confirmations",
            Kind::Integer { least: 1, most: CONFIRMATIONS_MAX },
            "1",
            "The number of confirmations, including the payment's own block, before it is \
             credited.",
        ),
        Key::with_default(
            "recheck_after_s",
            Kind::Seconds { least: 1, most: 3600 },
            "60",
            "Time between crediting a payment and its first recheck on the chain; further rechecks \
             follow at 3, 10, 30 and 60 times this age, because a chain may be reorganized.",
        ),
        Key::with_default(
            "gas_price_max_gwei",
            Kind::Integer { least: 1, most: GAS_PRICE_GWEI_MAX },
            "50",
            "The maximum gas price that the relayer pays, in gwei.",
        ),
        Key::with_default(
            "gas_max_per_hour",
            Kind::Decimal,
            "\"0.1\"",
            "The maximum amount that the relayer offers for gas per hour, in the chain's coin. \
             Further payments wait, with a log message.",
        ),
        Key::with_default(
            "solana_fees_max_per_hour",
            Kind::Decimal,
            "\"0.1\"",
            "The maximum amount that the fee payer offers for fees per hour, in SOL. Further \
             payments wait, with a log message.",
        ),
        Key::with_default(
            "replace_after_s",
            Kind::Seconds { least: 1, most: 3600 },
            "30",
            "Time that the relayer's transaction may wait to be mined. After that it is replaced \
             with a higher fee, of at most `gas_price_max_gwei`.",
        ),
        Key::with_default(
            "solana_cluster",
            Kind::Choice(&["mainnet", "devnet"]),
            "\"mainnet\"",
            "The Solana cluster.",
        ),
        Key::with_default(
            "solana_commitment",
            Kind::Choice(&["confirmed", "finalized"]),
            "\"confirmed\"",
            "The commitment level of a payment on Solana before it is credited.",
        ),
        Key::with_default(
            "timeout_s",
            Kind::Seconds { least: 30, most: 3600 },
            "300",
            "The lifetime of payers' authorizations: `maxTimeoutSeconds`.",
        ),
        Key::with_default(
            "settle_wait_s",
            Kind::Seconds { least: 1, most: 300 },
            "60",
            "Time that a top-up request waits for settlement before it is reported as pending.",
        ),
        Key::with_default(
            "top_ups_per_minute",
            Kind::Integer { least: 1, most: 1_000_000 },
            "10",
            "The maximum number of top-ups per minute from one address, paid or not, because the \
             payer is unknown before the payment is verified.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct X402 {
    pub evm: EvmPayments,
    pub solana: SolanaPayments,
    pub minimum: Nano,
    pub maximum: Nano,
    pub settle: Settle,
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
    pub rpc_url: Option<Secret>,
    /// Further nodes that must confirm a payment in addition to `rpc_url`.
    pub rpc_urls: Vec<Secret>,
    pub relayer_key: Option<Secret>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolanaPayments {
    /// None: payments on Solana are not offered.
    pub pay_to: Option<String>,
    pub asset: String,
    pub cluster: Cluster,
    pub commitment: Commitment,
    pub rpc_url: Option<Secret>,
    /// Used for direct settlement.
    pub fee_payer_key: Option<Secret>,
    /// In SOL.
    pub fees_max_per_hour: Nano,
    /// Used for settlement by a facilitator.
    pub fee_payer: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cluster {
    Mainnet,
    Devnet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commitment {
    Confirmed,
    Finalized,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    Facilitator,
    Direct,
}

pub(crate) fn read(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<X402> {
    let evm = evm(reader, vault);
    let solana = solana(reader, vault);
    let minimum = reader.decimal("minimum_usd", Nano::parse);
    let maximum = reader.decimal("maximum_usd", Nano::parse);
    let settle = reader.choice("settle").map(|written| match written {
        "direct" => Settle::Direct,
        _ => Settle::Facilitator,
    });
    let facilitator_url =
        reader.url("facilitator_url").map(|url| url.trim_end_matches('/').to_owned());
    if maximum < minimum {
        reader.fault("maximum_usd", "`maximum_usd` in [x402] must be at least `minimum_usd`");
    }
    let (timeout, settle_wait) = (reader.seconds("timeout_s"), reader.seconds("settle_wait_s"));
    let recheck_after = reader.seconds("recheck_after_s");
    let top_ups_per_minute = reader.integer("top_ups_per_minute");
    check_settlement(reader, settle?);
    Some(X402 {
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

fn evm(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<EvmPayments> {
    let pay_to = evm_address(reader, "pay_to_evm");
    let asset = evm_address(reader, "asset_evm");
    let chain_id = reader.integer("chain_id");
    let rpc_url = vault.url(reader, "evm_rpc_url");
    let rpc_urls = vault.urls(reader, "evm_rpc_urls").unwrap_or_default();
    let gas_max_per_hour = reader.decimal("gas_max_per_hour", Nano::parse);
    let relayer_key = vault.secret(reader, "evm_relayer_key");
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

fn solana(reader: &Reader<'_>, vault: &Vault<'_>) -> Option<SolanaPayments> {
    let pay_to = solana_address(reader, "pay_to_solana");
    let asset = solana_address(reader, "asset_solana");
    let rpc_url = vault.url(reader, "solana_rpc_url");
    let fee_payer_key = vault.secret(reader, "solana_fee_payer_key");
    let fees_max_per_hour = reader.decimal("solana_fees_max_per_hour", Nano::parse);
    let fee_payer = solana_address(reader, "solana_fee_payer");
    let cluster = reader.choice("solana_cluster").map(|written| match written {
        "devnet" => Cluster::Devnet,
        _ => Cluster::Mainnet,
    });
    let commitment = reader.choice("solana_commitment").map(|written| match written {
        "finalized" => Commitment::Finalized,
        _ => Commitment::Confirmed,
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
fn evm_address(reader: &Reader<'_>, name: &str) -> Option<String> {
    let written = reader.text(name)?;
    let digits = written.strip_prefix("0x").unwrap_or_default();
    let fits = digits.len() == 40 && digits.chars().all(|digit| digit.is_ascii_hexdigit());
    if !fits {
        reader.fault(
            name,
            format!("`{name}` in [x402] must be 0x and 40 hexadecimal digits, not {written:?}"),
        );
    }
    fits.then_some(written)
}

fn solana_address(reader: &Reader<'_>, name: &str) -> Option<String> {
    let written = reader.text(name)?;
    let is_base58 =
        |letter: char| letter.is_ascii_alphanumeric() && !matches!(letter, '0' | 'O' | 'I' | 'l');
    let fits = 32 <= written.len() && written.len() <= 44 && written.chars().all(is_base58);
    if !fits {
        reader.fault(name, format!("`{name}` in [x402] must be a base58 address of 32 to 44 characters, not {written:?}"));
    }
    fits.then_some(written)
}

/// Reports keys that settlement requires on each enabled chain.
fn check_settlement(reader: &Reader<'_>, settle: Settle) {
    let need = |pay_to: &str, needed: &[&str]| {
        for name in needed {
            if reader.has(pay_to) && !reader.has(name) {
                let message = format!(
                    "`{name}` is missing in [x402]: `{pay_to}` is set and settling needs it"
                );
                reader.fault(pay_to, message);
            }
        }
    };
    match settle {
        Settle::Facilitator => {
            let pay_to = if reader.has("pay_to_evm") { "pay_to_evm" } else { "pay_to_solana" };
            need(pay_to, &["facilitator_url"]);
            need("pay_to_evm", &["evm_rpc_url"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer"]);
        }
        Settle::Direct => {
            need("pay_to_evm", &["evm_rpc_url", "evm_relayer_key"]);
            need("pay_to_solana", &["solana_rpc_url", "solana_fee_payer_key"]);
        }
    }
}
