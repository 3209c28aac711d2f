//! What can be written: groups of typed rows, each group all or nothing.
//!
//! A group is data rather than a closure over a connection, so that any store can run it, and so
//! that whatever belongs to a charge (a job's state, a stored answer) is written with the charge
//! or not at all.

use credits::{KeyId, OwnerId, Record};
use domain::secret::SecretDigest;
use moment::Timestamp;

use crate::audit::AuditEntry;
use crate::character::CharacterWrite;
use crate::claim::{Claim, ClaimId, ClaimState, ClaimStep, ReceivedPayment};
use crate::idempotency::{AnswerKey, KeptAnswer};
use crate::job::JobWrite;
use crate::key::{ApiKey, KeySettings};
use crate::limit_hit::LimitHit;
use crate::media::MediaWrite;
use crate::owner::{Owner, OwnerKind};
use crate::rpc::SentTransaction;
use crate::usage::UsageRow;
use crate::wallet::{UsedNonce, WalletLink};

#[derive(Debug, Clone, Default)]
pub struct Group {
    pub writes: Vec<Write>,
}

impl Group {
    pub fn of(write: Write) -> Group {
        Group { writes: vec![write] }
    }
}

#[derive(Debug, Clone)]
pub enum Write {
    /// One record of the ledger's journal, folded into the balances.
    Journal(Record),
    AddUsage(UsageRow),
    /// Drops the details of days before this one; sums and balances stay. At most `rows_max` go
    /// at once, so that nobody waits long behind it.
    PruneUsage {
        before_day: i64,
        rows_max: usize,
    },
    AddOwner(Owner),
    /// Adds an owner unless it is there, by its id or by its name. Missing if it is a wallet that
    /// is linked to an account.
    EnsureOwner(Owner),
    SetTier {
        owner: OwnerId,
        tier: String,
    },
    /// Since when an owner is frozen, or that it is not.
    Freeze {
        owner: OwnerId,
        since: Option<Timestamp>,
    },
    /// Refused as [`StoreError::TooMany`](crate::error::StoreError) beyond that many active keys.
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
    /// Finds the key by another digest of its secret. Missing if it is not found by the first.
    MoveKey {
        key: KeyId,
        from: SecretDigest,
        to: SecretDigest,
    },
    /// Notes that the key was used; earlier moments change nothing.
    TouchKey {
        key: KeyId,
        at: Timestamp,
    },
    /// Left out for an owner that is not there: a wallet that never paid.
    AddLimitHit(LimitHit),
    /// A duplicate if the wallet used it before.
    UseNonce(UsedNonce),
    /// At most `rows_max` go at once, so that nobody waits long behind it.
    DropExpiredNonces {
        now: Timestamp,
        rows_max: usize,
    },
    /// A duplicate if the wallet is linked, or has an owner of its own.
    LinkWallet(WalletLink),
    /// Missing if the wallet is not linked to this owner.
    UnlinkWallet {
        kind: OwnerKind,
        address: String,
        owner: OwnerId,
    },
    /// Keeps an answer under its key, in place of any other there.
    KeepAnswer {
        key: AnswerKey,
        answer: KeptAnswer,
    },
    /// At most `rows_max` go at once, so that nobody waits long behind it.
    DropExpiredAnswers {
        now: Timestamp,
        rows_max: usize,
    },
    AddSentTransaction(SentTransaction),
    /// Tells the hash of a transaction that was written down without one. Nothing changes if all of
    /// the request's have theirs.
    NameTransaction {
        request_id: String,
        hash: String,
    },
    /// A payment becomes ours to settle. One that failed is taken up again; one in any other state
    /// is a duplicate.
    OpenClaim(Claim),
    /// `Missing` unless the claim is still in the state `from`.
    AdvanceClaim {
        claim: ClaimId,
        from: ClaimState,
        step: ClaimStep,
        at: Timestamp,
    },
    /// The chain shows money for a claim that failed. Nothing changes if that is known, or if the
    /// claim has not failed; crediting it takes the note away.
    NoteReceivedClaim {
        claim: ClaimId,
        received: ReceivedPayment,
        at: Timestamp,
    },
    /// Money that came for a failed claim stays nobody's, by the operator's word.
    DropReceivedClaim(ClaimId),
    /// A credited claim is not on its chain any more. Nothing changes if that is known.
    NoteMissingClaim {
        claim: ClaimId,
        at: Timestamp,
    },
    /// A claim that was missing is on its chain again.
    NoteFoundClaim(ClaimId),
    /// Forgets claims that failed before a moment, at most `rows_max` at once. Those that money
    /// came for are kept.
    DropFailedClaims {
        before: Timestamp,
        rows_max: usize,
    },
    /// The books follow the clock again, which says `at`: days and months after it that keys spent in
    /// or allowances were opened for count as the present ones, in which nothing was spent.
    MendTime {
        at: Timestamp,
    },
    /// Goes with what it tells of in one group.
    AddAudit(AuditEntry),
    Job(Box<JobWrite>),
    Media(Box<MediaWrite>),
    Character(Box<CharacterWrite>),
    /// Adds a setting, and is a duplicate if it is there.
    AddSetting {
        name: String,
        value: Vec<u8>,
    },
    PutSetting {
        name: String,
        value: Vec<u8>,
    },
}

impl From<CharacterWrite> for Write {
    fn from(write: CharacterWrite) -> Write {
        Write::Character(Box::new(write))
    }
}
