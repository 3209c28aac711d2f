//! The operations and what can go wrong with them, in the form in which they cross the socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::secrets::SecretName;

/// One thing to do. Amounts are decimal text, moments RFC 3339, as on a command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    /// Is anybody there, and since when?
    Ping,
    CreateAccount {
        name: String,
    },
    ListAccounts,
    ShowAccount {
        name: String,
    },
    CreditAccount {
        /// Names this credit: the same one sent twice counts once.
        entry: Uuid,
        name: String,
        amount: String,
        currency: CreditCurrency,
    },
    /// Takes back credit that the operator gave, as far as it is left.
    DebitAccount {
        /// Names this debit: the same one sent twice counts once.
        #[serde(alias = "entryId")]
        entry: Uuid,
        #[serde(alias = "account")]
        name: String,
        amount: String,
        currency: CreditCurrency,
        reason: String,
    },
    /// Puts an account under another set of rate limits.
    SetTier {
        name: String,
        tier: String,
    },
    /// Lets a wallet spend the balance of an account.
    LinkWallet {
        name: String,
        wallet: String,
    },
    /// Takes that right from a wallet again.
    UnlinkWallet {
        name: String,
        wallet: String,
    },
    /// Lets nobody spend from an account or a wallet, or sign in to it; its money stays.
    FreezeAccount {
        name: String,
    },
    UnfreezeAccount {
        name: String,
    },
    CreateKey(NewKey),
    /// Makes a key with the operator's rights, which belongs to the account `default`.
    CreateOperatorKey(NewOperatorKey),
    ListOperatorKeys,
    /// Makes a link that signs in to the console once, with the operator's rights.
    CreateOperatorLink,
    /// The keys of one account, or of all, without those of the operator.
    ListKeys {
        account: Option<String>,
    },
    RevokeKey {
        id: Uuid,
    },
    /// Every key of one account, or of all.
    RevokeAllKeys {
        account: Option<String>,
    },
    /// Makes a new secret in place of one of the installation's own.
    RotateSecret {
        name: SecretName,
    },
    /// Gives up keys that were not used since the pepper was rotated.
    ForgetPepper,
    ListModels,
    /// Reads the catalogue's files again.
    ReloadModels,
    /// Queued work, the newest first.
    ListJobs {
        account: Option<String>,
        open_only: bool,
    },
    ShowJob {
        id: Uuid,
    },
    /// Asks for the end of a job.
    CancelJob {
        id: Uuid,
    },
    /// A character card: JSON, PNG or charx, in base64.
    ImportCharacter {
        file: String,
    },
    ExportCharacter {
        slug: String,
    },
    ListCharacters,
    VerifyLedger,
    /// Has the books follow the clock again, after they were dated ahead of it.
    MendTime {
        reason: String,
    },
    /// Gives a charge back, whole or in part, once.
    RefundCharge {
        charge: Uuid,
        amount: Option<String>,
        reason: String,
        /// Sent again because the answer was lost: a refund that is there is told, not refused.
        #[serde(default)]
        is_repeat: bool,
    },
    /// A page of the audit trail, after a sequence number.
    AuditLedger {
        after_seq: i64,
    },
    /// Payments of wallets, the newest first.
    ListPayments {
        state: Option<String>,
        limit: usize,
    },
    ShowPayment {
        id: String,
    },
    /// Asks the payment's chain about it once more.
    RecheckPayment {
        id: String,
    },
    /// Gives up a payment that nothing more will come of.
    WriteOffPayment {
        id: String,
        reason: String,
    },
    /// Writes all that the service keeps to one file, which must not be there.
    Backup {
        path: PathBuf,
    },
    /// A page of the journal, after a sequence number.
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
    pub period: Period,
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
pub enum Period {
    Epoch,
    Month,
    Lifetime,
}

/// What a credit is given in. USD and VCU are granted; DIEM and bundled credits are an allowance
/// for each day or month, which a credit sets.
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

/// Why an operation was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperationError {
    /// It cannot be done as asked; the message says what to ask instead. Nothing has happened.
    #[error("{0}")]
    Refused(String),
    /// The service could not do it now, whatever was asked. Nothing has happened.
    #[error("{0}")]
    Failed(String),
    /// The answer of the node that was to do it was lost: it may have been done.
    #[error("{0}")]
    Unknown(String),
}
