//! What operations answer: plain data that a command prints as JSON or as a table.

use domain::catalogue::{Model, Named};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Status(Status),
    Account(AccountReport),
    Accounts(Vec<AccountLine>),
    CreatedKey(CreatedKey),
    Keys(Vec<KeyLine>),
    RevokedKey(KeyLine),
    OperatorLink(OperatorLink),
    Models(Vec<ModelLine>),
    Reloaded(Reloaded),
    Jobs(Vec<JobLine>),
    Job(JobLine),
    Characters(Vec<CharacterLine>),
    /// A character card, as JSON.
    Card(String),
    Verified(Verification),
    TimeMended(TimeMendReport),
    Journal(JournalPage),
    Refunded(RefundReport),
    Audit(AuditPage),
    Payments(Vec<PaymentLine>),
    Payment(PaymentReport),
    BackedUp(BackupReport),
    /// There is nothing to tell.
    Done,
}

/// A service that is running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub version: String,
    pub process: u32,
    pub started_at: String,
    /// Whether it can write, and so take money.
    pub can_write: bool,
    /// How far the journal is dated ahead of the clock, if more than a minute.
    #[serde(default)]
    pub journal_ahead_s: Option<u64>,
    /// How callers on this machine reach the API, up to and with its version.
    pub api_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountLine {
    pub id: Uuid,
    pub name: String,
    pub tier: String,
    pub created_at: String,
    /// Since when, if it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frozen_at: Option<String>,
    pub balances: Balances,
}

/// Exact decimals by the name of the currency: what is there to be spent.
pub type Balances = IndexMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountReport {
    #[serde(flatten)]
    pub line: AccountLine,
    /// What is granted anew each period.
    pub allowances: Allowances,
    pub keys: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Allowances {
    pub diem_per_day: String,
    pub bundled_per_month: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// The secret. It is shown here and never again.
    pub api_key: String,
    #[serde(flatten)]
    pub key: KeyLine,
}

/// A link into the console that works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperatorLink {
    /// The last part of the link, behind `/#/sign-in/`.
    pub token: String,
    pub expires_at: String,
}

/// A key, in the words of the API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KeyLine {
    pub id: Uuid,
    pub account: String,
    pub api_key_type: String,
    pub description: String,
    pub last6_chars: String,
    pub consumption_limits: ConsumptionLimits,
    pub limit_period: String,
    pub created_at: String,
    pub expires_at: Option<String>,
    pub last_used_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConsumptionLimits {
    pub usd: Option<String>,
    pub diem: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelLine {
    pub id: String,
    #[serde(rename = "type")]
    pub model_type: String,
    pub name: String,
    pub providers: Vec<String>,
    pub traits: Vec<String>,
    pub offline: bool,
    /// For a model that runs on this machine: whether its files are there.
    pub weights: Option<String>,
}

impl ModelLine {
    pub fn of(model: &Model, weights: Option<String>) -> ModelLine {
        ModelLine {
            id: model.id.clone(),
            model_type: model.model_type().name().to_owned(),
            name: model.name.clone(),
            providers: model.routes.iter().map(|route| route.provider.clone()).collect(),
            traits: model.traits.clone(),
            offline: model.offline,
            weights,
        }
    }
}

/// Queued work, without what was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobLine {
    pub id: Uuid,
    pub account: String,
    pub kind: String,
    pub model: String,
    pub state: String,
    pub attempts: u32,
    pub queued_at: String,
    pub started_at: Option<String>,
    pub submitted_at: Option<String>,
    pub done_at: Option<String>,
    /// What its provider knows it by.
    pub ticket: Option<String>,
    /// Why it ended without a result, as JSON.
    pub failure: Option<String>,
    pub wants_cancel: bool,
    /// While this node works on it and its provider says anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
}

/// How far a job has come, as its provider said last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// How many others its provider does first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CharacterLine {
    pub id: Uuid,
    pub slug: String,
    pub name: String,
    pub tags: Vec<String>,
    pub adult: bool,
    pub imports: u64,
    pub rating_count: u64,
    pub created_at: String,
}

/// The catalogue was read again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reloaded {
    pub models: usize,
}

/// The outcome of recomputing the ledger. No differences: it is right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    pub transfers: u64,
    /// The first of them.
    pub differences: Vec<String>,
    /// How many there are, told or not.
    #[serde(default)]
    pub differences_total: u64,
    /// Usage rows of earlier releases, whose request ids are not covered by a digest.
    #[serde(default)]
    pub undigested_usage_rows: u64,
}

/// The books follow the clock again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeMendReport {
    /// The time of the books before.
    pub from: String,
    /// The time of the clock.
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalPage {
    /// Entries in the format that was asked for.
    pub lines: Vec<String>,
    /// After which entry the next page begins; none if this is the last.
    pub next_seq: Option<i64>,
}

/// A charge that was given back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundReport {
    pub charge: Uuid,
    /// The entry that gave it back.
    pub refund: Uuid,
    /// What the owner has again.
    pub returned: Balances,
    /// What had expired meanwhile, and so went nowhere.
    pub lapsed: Balances,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    pub rows: Vec<AuditLine>,
    /// After which row the next page begins; none if this is the last.
    pub next_seq: Option<i64>,
}

/// One command that moved money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditLine {
    pub seq: i64,
    pub at: String,
    /// The user of the operating system who gave it.
    pub by: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentLine {
    pub id: String,
    pub state: String,
    pub network: String,
    pub payer: String,
    pub amount_usd: String,
    pub created_at: String,
    pub changed_at: String,
    /// What an operator should look at.
    pub trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentReport {
    #[serde(flatten)]
    pub line: PaymentLine,
    pub pay_to: String,
    pub asset: String,
    pub transaction: Option<String>,
    /// Transactions that were sent before under the same number, for less.
    pub replaced: Vec<String>,
    pub sent_at: Option<String>,
    /// The entry of the journal that credited it.
    pub entry: Option<Uuid>,
    pub credited_usd: Option<String>,
    /// Why it failed, in the protocol's word.
    pub reason: Option<String>,
    /// What asking the chain has found just now.
    pub found: Option<String>,
}

/// A backup that is whole and on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    pub path: String,
    pub made_at: String,
    pub bytes: u64,
    /// The last transfer that it contains.
    pub last_transfer: i64,
}
