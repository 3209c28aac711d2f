//! The operations and their errors, in the form in which they are sent over the socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::secrets::SecretName;

/// One operation. Amounts are decimal text and times RFC 3339, as on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum ControlOperation {
    /// Asks for the service's status.
    Ping,
    CreateAccount {
        name: String,
    },
    ListAccounts,
    ShowAccount {
        name: String,
    },
    CreditAccount {
        /// Idempotency id: a repeated credit with the same id counts once.
        entry: Uuid,
        name: String,
        amount: String,
        currency: CreditCurrency,
    },
    /// Takes back granted credit, up to the amount that is not spent.
    DebitAccount {
        /// Idempotency id: a repeated debit with the same id counts once.
        #[serde(alias = "entryId")]
        entry: Uuid,
        #[serde(alias = "account")]
        name: String,
        amount: String,
        currency: CreditCurrency,
        reason: String,
    },
    /// Assigns another rate-limit tier to an account.
    SetTier {
        name: String,
        tier: String,
    },
    /// Lets a wallet spend the balance of an account.
    LinkWallet {
        name: String,
        wallet: String,
    },
    /// Revokes that right.
    UnlinkWallet {
        name: String,
        wallet: String,
    },
    /// Blocks spending from an account or wallet and sign-in to it; its balance stays.
    FreezeAccount {
        name: String,
    },
    UnfreezeAccount {
        name: String,
    },
    CreateKey(NewKey),
    /// Creates a key with operator rights, owned by the account `default`.
    CreateOperatorKey(NewOperatorKey),
    ListOperatorKeys,
    /// Creates a link that signs in to the console once, with operator rights.
    CreateOperatorLink,
    /// Lists the keys of one account or of all, without operator keys.
    ListKeys {
        account: Option<String>,
    },
    RevokeKey {
        id: Uuid,
    },
    /// Revokes every key of one account, or of all accounts.
    RevokeAllKeys {
        account: Option<String>,
    },
    /// Replaces one of the installation's own secrets with a new one.
    RotateSecret {
        name: SecretName,
    },
    /// Drops the previous pepper; keys that were not used since its rotation become invalid.
    ForgetPepper,
    ListModels,
    /// Reads the catalogue's files again.
    ReloadModels,
    /// Lists queued jobs, newest first.
    ListJobs {
        account: Option<String>,
        open_only: bool,
    },
    ShowJob {
        id: Uuid,
    },
    /// Requests the cancellation of a job.
    CancelJob {
        id: Uuid,
    },
    /// Imports a character card: JSON, PNG or charx, in base64.
    ImportCharacter {
        file: String,
    },
    ExportCharacter {
        slug: String,
    },
    ListCharacters,
    VerifyLedger,
    /// Sets the ledger's time back to the clock, after entries were dated ahead of it.
    MendTime {
        reason: String,
    },
    /// Refunds a charge, fully or in part, once.
    RefundCharge {
        charge: Uuid,
        amount: Option<String>,
        reason: String,
        /// Set on a retry after a lost response: an existing refund is returned instead of an
        /// error.
        #[serde(default)]
        is_repeat: bool,
    },
    /// Returns a page of the audit trail, after a sequence number.
    AuditLedger {
        after_seq: i64,
    },
    /// Lists payments by wallets, newest first.
    ListPayments {
        state: Option<String>,
        limit: usize,
    },
    ShowPayment {
        id: String,
    },
    /// Queries the payment's chain again.
    RecheckPayment {
        id: String,
    },
    /// Abandons a payment that cannot complete.
    WriteOffPayment {
        id: String,
        reason: String,
    },
    /// Writes all data of the service to one file, which must not exist.
    Backup {
        path: PathBuf,
    },
    /// Returns a page of the journal, after a sequence number.
    ExportLedger {
        after_seq: i64,
        format: ExportFormat,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewKey {
    pub account: String,
    pub kind: KeyType,
    pub description: String,
    pub limit_usd: Option<String>,
    pub limit_diem: Option<String>,
    pub period: KeyLimitPeriod,
    pub expires: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOperatorKey {
    pub description: String,
    pub expires: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyType {
    Inference,
    Admin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyLimitPeriod {
    Epoch,
    Month,
    Lifetime,
}

/// The currency of a credit. USD and VCU are granted; DIEM and bundled credits set a daily or
/// monthly allowance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreditCurrency {
    Usd,
    Vcu,
    Diem,
    Bundled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Csv,
    Json,
}

/// The reason why an operation was not performed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationError {
    /// Not possible as requested; the message says what to do instead. Nothing was changed.
    #[error("{0}")]
    Refused(String),
    /// The service could not perform it now. Nothing was changed.
    #[error("{0}")]
    Failed(String),
    /// The response of the node that performs it was lost: it may have been performed.
    #[error("{0}")]
    Unknown(String),
}
