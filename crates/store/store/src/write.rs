//! The writes of a store: groups of typed rows, each group all or nothing.
//!
//! A group is data and not a closure over a connection, so that any store can run it, and so that
//! everything that belongs to a charge (a job's state, a stored response) is written with the
//! charge or not at all.

use domain::secret::SecretDigest;
use ledger_core::{JournalRecord, KeyId, OwnerId};
use moment::Timestamp;

use crate::audit::AuditEntry;
use crate::batch::BatchWrite;
use crate::character::CharacterWrite;
use crate::claim::{ClaimId, ClaimState, ClaimStep, PaymentClaim, ReceivedPayment};
use crate::conversation::ConversationWrite;
use crate::file::FileWrite;
use crate::idempotency::{StoredResponse, StoredResponseKey};
use crate::job::JobWrite;
use crate::key::{ApiKey, KeySettings};
use crate::limit_hit::LimitHit;
use crate::media::MediaWrite;
use crate::model_response::ResponseWrite;
use crate::owner::{Owner, OwnerKind};
use crate::rpc::SentTransaction;
use crate::usage::UsageRow;
use crate::wallet::{UsedNonce, WalletLink};

#[derive(Debug, Clone, Default)]
pub struct WriteGroup {
    pub writes: Vec<StoreWrite>,
}

impl WriteGroup {
    pub fn from_write(write: StoreWrite) -> WriteGroup {
        WriteGroup { writes: vec![write] }
    }
}

#[derive(Debug, Clone)]
pub enum StoreWrite {
    /// One record of the ledger's journal, folded into the balances.
    Journal(JournalRecord),
    AddUsage(UsageRow),
    /// Deletes usage rows of days before this one; sums and balances stay. At most `rows_max` per
    /// write, so that other groups do not wait long.
    PruneUsage {
        before_day: i64,
        rows_max: usize,
    },
    AddOwner(Owner),
    /// Adds an owner unless one with its id or name exists. `Missing` if it is a wallet that is
    /// linked to an account.
    EnsureOwner(Owner),
    SetTier {
        owner: OwnerId,
        tier: String,
    },
    /// Freezes an owner since a time, or unfreezes it.
    Freeze {
        owner: OwnerId,
        since: Option<Timestamp>,
    },
    /// Refused as [`StoreError::TooMany`](crate::error::StoreError) if the owner has that many
    /// active keys.
    AddKey {
        key: ApiKey,
        active_keys_max: usize,
    },
    ChangeKey {
        owner: OwnerId,
        key: KeyId,
        settings: KeySettings,
        at: Timestamp,
    },
    RevokeKey {
        owner: OwnerId,
        key: KeyId,
        at: Timestamp,
    },
    /// Replaces the digest of a key's secret. `Missing` if the key does not have the digest `from`.
    MoveKey {
        key: KeyId,
        from: SecretDigest,
        to: SecretDigest,
    },
    /// Updates the last use of a key; an earlier time changes nothing.
    TouchKey {
        key: KeyId,
        at: Timestamp,
    },
    /// Skipped for an owner without a row: a wallet that never paid.
    AddLimitHit(LimitHit),
    /// A duplicate if the wallet used the nonce before.
    UseNonce(UsedNonce),
    /// At most `rows_max` per write, so that other groups do not wait long.
    DropExpiredNonces {
        now: Timestamp,
        rows_max: usize,
    },
    /// A duplicate if the wallet is linked, or has an owner row of its own.
    LinkWallet(WalletLink),
    /// `Missing` if the wallet is not linked to this owner.
    UnlinkWallet {
        kind: OwnerKind,
        address: String,
        owner: OwnerId,
    },
    /// Stores a response under its key, replacing any other.
    KeepAnswer {
        key: StoredResponseKey,
        answer: StoredResponse,
    },
    /// At most `rows_max` per write, so that other groups do not wait long.
    DropExpiredAnswers {
        now: Timestamp,
        rows_max: usize,
    },
    AddSentTransaction(SentTransaction),
    /// Adds the hash of a transaction that was stored without one. No change if all of the
    /// request's transactions have theirs.
    NameTransaction {
        request_id: String,
        hash: String,
    },
    /// Opens a claim for a payment. One that failed is reopened; in any other state it is a
    /// duplicate.
    OpenClaim(PaymentClaim),
    /// `Missing` unless the claim is still in the state `from`.
    AdvanceClaim {
        claim: ClaimId,
        from: ClaimState,
        step: ClaimStep,
        at: Timestamp,
    },
    /// Records that the chain shows money for a failed claim. No change if that is recorded, or if
    /// the claim has not failed; crediting the claim removes the record.
    NoteReceivedClaim {
        claim: ClaimId,
        received: ReceivedPayment,
        at: Timestamp,
    },
    /// Removes the record of money for a failed claim on the operator's command; the money is not
    /// credited.
    DropReceivedClaim(ClaimId),
    /// Records that a credited claim is no longer on its chain. No change if that is recorded.
    NoteMissingClaim {
        claim: ClaimId,
        at: Timestamp,
    },
    /// Records that a missing claim is on its chain again.
    NoteFoundClaim(ClaimId),
    /// Deletes claims that failed before a moment, at most `rows_max` per write. Those whose money
    /// arrived are kept.
    DropFailedClaims {
        before: Timestamp,
        rows_max: usize,
    },
    /// Resets the books' time to `at`, the clock's: later days and months in which keys spent or
    /// allowances were opened count as the current ones, with nothing spent.
    MendTime {
        at: Timestamp,
    },
    /// Written in one group with the action it describes.
    AddAudit(AuditEntry),
    Job(Box<JobWrite>),
    Media(Box<MediaWrite>),
    File(Box<FileWrite>),
    Batch(Box<BatchWrite>),
    Character(Box<CharacterWrite>),
    Dialogue(Box<DialogueWrite>),
    /// Adds a setting; a duplicate if it exists.
    AddSetting {
        name: String,
        value: Vec<u8>,
    },
    PutSetting {
        name: String,
        value: Vec<u8>,
    },
}

/// A write about a stored response or a conversation.
#[derive(Debug, Clone)]
pub enum DialogueWrite {
    Response(ResponseWrite),
    Conversation(ConversationWrite),
}

impl From<ResponseWrite> for StoreWrite {
    fn from(write: ResponseWrite) -> StoreWrite {
        StoreWrite::Dialogue(Box::new(DialogueWrite::Response(write)))
    }
}

impl From<ConversationWrite> for StoreWrite {
    fn from(write: ConversationWrite) -> StoreWrite {
        StoreWrite::Dialogue(Box::new(DialogueWrite::Conversation(write)))
    }
}

impl From<FileWrite> for StoreWrite {
    fn from(write: FileWrite) -> StoreWrite {
        StoreWrite::File(Box::new(write))
    }
}

impl From<BatchWrite> for StoreWrite {
    fn from(write: BatchWrite) -> StoreWrite {
        StoreWrite::Batch(Box::new(write))
    }
}

impl From<CharacterWrite> for StoreWrite {
    fn from(write: CharacterWrite) -> StoreWrite {
        StoreWrite::Character(Box::new(write))
    }
}
