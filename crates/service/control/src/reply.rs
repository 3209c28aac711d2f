//! Replies to operations: plain data that a command prints as JSON or as a table.

use domain::catalogue::{CatalogueModel, NamedVariants};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlReply {
    Status(ServiceStatus),
    Account(AccountReport),
    Accounts(Vec<AccountLine>),
    CreatedKey(CreatedKey),
    Keys(Vec<KeyLine>),
    RevokedKey(KeyLine),
    OperatorLink(OperatorLink),
    Models(Vec<ModelLine>),
    Reloaded(ReloadReport),
    Jobs(Vec<JobLine>),
    Job(JobLine),
    Characters(Vec<CharacterLine>),
    /// A character card, as JSON.
    Card(String),
    Verified(LedgerVerification),
    TimeMended(TimeMendReport),
    Journal(JournalPage),
    Refunded(RefundReport),
    Audit(AuditPage),
    Payments(Vec<PaymentLine>),
    Payment(PaymentReport),
    BackedUp(BackupReport),
    /// The operation returns no data.
    Done,
}

/// The status of a running service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceStatus {
    pub version: String,
    pub process: u32,
    pub started_at: String,
    /// True if the store accepts writes; without it no payment is accepted.
    pub can_write: bool,
    /// Seconds by which the journal is dated ahead of the clock, if more than 60.
    #[serde(default)]
    pub journal_ahead_s: Option<u64>,
    /// The API's base URL for callers on this machine, including the version.
    pub api_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountLine {
    pub id: Uuid,
    pub name: String,
    pub tier: String,
    pub created_at: String,
    /// The time at which the account was frozen, if it is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub frozen_at: Option<String>,
    pub balances: BalanceTexts,
}

/// Spendable amounts by currency name, as exact decimals.
pub type BalanceTexts = IndexMap<String, String>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountReport {
    #[serde(flatten)]
    pub line: AccountLine,
    /// Amounts granted again in each period.
    pub allowances: AccountAllowances,
    pub keys: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountAllowances {
    pub diem_per_day: String,
    pub bundled_per_month: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreatedKey {
    /// The secret, which is returned only here.
    pub api_key: String,
    #[serde(flatten)]
    pub key: KeyLine,
}

/// A link into the console that works once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OperatorLink {
    /// The last part of the link, after `/#/sign-in/`.
    pub token: String,
    pub expires_at: String,
}

/// An API key, with the field names of the API.
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
    /// Download state of the model's files, for a model that runs on this machine.
    pub weights: Option<String>,
}

impl ModelLine {
    pub fn from_model(model: &CatalogueModel, weights: Option<String>) -> ModelLine {
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

/// A queued job, without its request.
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
    /// The provider's id of the job.
    pub ticket: Option<String>,
    /// The error of a job without a result, as JSON.
    pub failure: Option<String>,
    pub wants_cancel: bool,
    /// Set while this node processes the job and its provider reports progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
}

/// A job's progress, as last reported by its provider.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobProgress {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<u8>,
    /// Jobs before this one in the provider's queue.
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

/// The result of reloading the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReloadReport {
    pub models: usize,
}

/// The result of recomputing the ledger. No differences: it is correct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LedgerVerification {
    pub transfers: u64,
    /// The first differences; see `differences_total`.
    pub differences: Vec<String>,
    /// The number of all differences.
    #[serde(default)]
    pub differences_total: u64,
    /// Usage rows of earlier releases, whose request ids are not covered by a digest.
    #[serde(default)]
    pub undigested_usage_rows: u64,
}

/// The ledger's time was set back to the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimeMendReport {
    /// The ledger's time before.
    pub from: String,
    /// The clock's time.
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalPage {
    /// Entries in the requested format.
    pub lines: Vec<String>,
    /// The entry after which the next page begins; `None` on the last page.
    pub next_seq: Option<i64>,
}

/// A refunded charge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefundReport {
    pub charge: Uuid,
    /// The journal entry of the refund.
    pub refund: Uuid,
    /// Amounts returned to the owner.
    pub returned: BalanceTexts,
    /// Amounts that were not returned because they had expired.
    pub lapsed: BalanceTexts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditPage {
    pub rows: Vec<AuditLine>,
    /// The row after which the next page begins; `None` on the last page.
    pub next_seq: Option<i64>,
}

/// One command that moved money.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditLine {
    pub seq: i64,
    pub at: String,
    /// The author of the command; see `Actor`.
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
    /// A problem for the operator to look at.
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
    /// Transactions with the same nonce and lower fees that were sent before.
    pub replaced: Vec<String>,
    pub sent_at: Option<String>,
    /// The journal entry that credited the payment.
    pub entry: Option<Uuid>,
    pub credited_usd: Option<String>,
    /// The error reason, in the protocol's word.
    pub reason: Option<String>,
    /// The result of the chain query made for this reply.
    pub found: Option<String>,
}

/// A backup that is complete and on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupReport {
    pub path: String,
    pub made_at: String,
    pub bytes: u64,
    /// The last transfer that it contains.
    pub last_transfer: i64,
}
