//! The accounts that transfers move money between.
//!
//! A lot is a liability: credits raise it, debits lower it. Each system account exists once per
//! currency.

use std::fmt;
use std::sync::Arc;

use money::BalanceCurrency;
use uuid::Uuid;

use crate::id::{EntryId, OwnerId};

/// One side of a transfer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerAccount {
    Lot(LotKey),
    System(SystemAccount),
}

/// Money of one owner that arrived together or expires together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LotKey {
    pub owner: OwnerId,
    pub currency: BalanceCurrency,
    pub tag: LotTag,
}

/// Identifies a lot among those of an owner's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LotTag {
    /// Everything that never expires.
    Main,
    /// The allowance of a UTC day, counted from 1970.
    Day(i64),
    /// The allowance of a UTC month, counted from 1970.
    Month(i64),
    /// A grant with its own expiry.
    Grant(EntryId),
    /// The debt of the owner: credit that was spent before its payment was taken back. An asset of
    /// ours, so its debits are never below its credits, and nothing is held or paid from it.
    Debt,
}

/// An account of the operator's own books.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemAccount {
    pub currency: BalanceCurrency,
    pub kind: SystemKind,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemKind {
    /// Money paid in, by payment network.
    Cash(PaymentNetwork),
    /// Money earned.
    Revenue,
    /// Balances that expired unspent.
    Expired,
    /// Money issued without payment: grants and allowances.
    Issuance,
    /// Work delivered that could not be charged.
    Writeoff,
}

/// The name of a payment network, such as `base` or `eip155:8453`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PaymentNetwork {
    name: Arc<str>,
}

const NETWORK_NAME_BYTES_MAX: usize = 64;

impl PaymentNetwork {
    /// None unless the name is 1 to 64 of `a-z A-Z 0-9 : - _`.
    pub fn parse(name: &str) -> Option<PaymentNetwork> {
        let is_short = !name.is_empty() && name.len() <= NETWORK_NAME_BYTES_MAX;
        let is_plain =
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_".contains(&byte));
        (is_short && is_plain).then(|| PaymentNetwork { name: name.into() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl LedgerAccount {
    pub fn currency(&self) -> BalanceCurrency {
        match self {
            LedgerAccount::Lot(lot) => lot.currency,
            LedgerAccount::System(system) => system.currency,
        }
    }

    pub(crate) fn system(currency: BalanceCurrency, kind: SystemKind) -> LedgerAccount {
        LedgerAccount::System(SystemAccount { currency, kind })
    }
}

impl LotKey {
    /// The lot of an owner's dollars that never expire.
    pub(crate) fn main_usd(owner: OwnerId) -> LotKey {
        LotKey { owner, currency: BalanceCurrency::Usd, tag: LotTag::Main }
    }

    /// The account of an owner's debt, in dollars.
    pub(crate) fn debt(owner: OwnerId) -> LotKey {
        LotKey { owner, currency: BalanceCurrency::Usd, tag: LotTag::Debt }
    }

    pub(crate) fn is_debt(&self) -> bool {
        self.tag == LotTag::Debt
    }
}

impl LotTag {
    /// Parses the form that [`LotTag`] prints.
    pub fn parse(text: &str) -> Option<LotTag> {
        if text == "main" {
            return Some(LotTag::Main);
        }
        if text == "debt" {
            return Some(LotTag::Debt);
        }
        let (kind, value) = text.split_once(':')?;
        match kind {
            "day" => value.parse().ok().map(LotTag::Day),
            "month" => value.parse().ok().map(LotTag::Month),
            "grant" => Uuid::try_parse(value).ok().map(|id| LotTag::Grant(EntryId(id))),
            _ => None,
        }
    }
}

/// `main`, `day:20407`, `month:682`, `grant:<uuid>` or `debt`: the form in the database.
impl fmt::Display for LotTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LotTag::Main => f.write_str("main"),
            LotTag::Day(day) => write!(f, "day:{day}"),
            LotTag::Month(month) => write!(f, "month:{month}"),
            LotTag::Grant(entry) => write!(f, "grant:{}", entry.0),
            LotTag::Debt => f.write_str("debt"),
        }
    }
}

impl SystemKind {
    /// Parses the form that [`SystemKind`] prints.
    pub fn parse(text: &str) -> Option<SystemKind> {
        match text {
            "revenue" => Some(SystemKind::Revenue),
            "expired" => Some(SystemKind::Expired),
            "issuance" => Some(SystemKind::Issuance),
            "writeoff" => Some(SystemKind::Writeoff),
            _ => text.strip_prefix("cash:").and_then(PaymentNetwork::parse).map(SystemKind::Cash),
        }
    }
}

/// `cash:<network>`, `revenue`, `expired`, `issuance` or `writeoff`: the form in the database.
impl fmt::Display for SystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemKind::Cash(network) => write!(f, "cash:{}", network.name),
            SystemKind::Revenue => f.write_str("revenue"),
            SystemKind::Expired => f.write_str("expired"),
            SystemKind::Issuance => f.write_str("issuance"),
            SystemKind::Writeoff => f.write_str("writeoff"),
        }
    }
}

impl fmt::Display for LotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} of {}", self.currency, self.tag, self.owner.0)
    }
}

impl fmt::Display for LedgerAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LedgerAccount::Lot(lot) => write!(f, "{lot}"),
            LedgerAccount::System(system) => write!(f, "{} {}", system.currency, system.kind),
        }
    }
}
