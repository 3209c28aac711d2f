//! Stored responses of models: what they say is sealed, and a background one is a piece of queued
//! work.
//!
//! ```text
//! QUEUED ──► IN_PROGRESS ──► COMPLETED | INCOMPLETE | FAILED | CANCELLED
//!    └───────────────────────────────► FAILED | CANCELLED
//! ```
//!
//! A worker claims a background response with a lease and a fence, as it claims a
//! [job](crate::job). A response that was answered at once is stored ended.

use ledger_core::OwnerId;
use moment::Timestamp;
use money::Nano;
use uuid::Uuid;

use crate::conversation::ConversationId;

/// The maximum number of rows per query.
pub const RESPONSES_MAX: usize = 1000;

/// The id of a stored response, which is also the id of the hold of a background one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResponseId(pub Uuid);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ResponseState {
    Queued,
    InProgress,
    Completed,
    Incomplete,
    Failed,
    Cancelled,
}

/// A stored response without its contents.
#[derive(Clone, PartialEq, Eq)]
pub struct ResponseRecord {
    pub id: ResponseId,
    pub owner: OwnerId,
    pub state: ResponseState,
    pub model: String,
    /// The response that it continues.
    pub previous: Option<ResponseId>,
    /// The number of responses before it.
    pub depth: u64,
    pub conversation: Option<ConversationId>,
    pub is_background: bool,
    pub is_streamed: bool,
    /// The size of the contents before encryption.
    pub bytes: u64,
    /// The key of the contents; None once the response is deleted.
    pub key: Option<[u8; 32]>,
    pub cost: ResponseCost,
    pub fence: u64,
    pub lease_until: Timestamp,
    pub wants_cancel: bool,
    /// The number of events that are stored.
    pub events: u64,
    pub created: Timestamp,
    pub started: Option<Timestamp>,
    pub ended: Option<Timestamp>,
    pub expires: Timestamp,
}

/// The charge for a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseCost {
    pub usd: Nano,
    pub diem: Nano,
}

/// A stored response with its sealed contents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedResponse {
    pub record: ResponseRecord,
    pub input: Vec<u8>,
    /// None until the response has ended.
    pub output: Option<Vec<u8>>,
}

/// Events with consecutive numbers, sealed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedEvents {
    pub first: u64,
    pub last: u64,
    pub sealed: Vec<u8>,
}

/// The end of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResponseEnd {
    pub id: ResponseId,
    pub state: ResponseState,
    pub output: Vec<u8>,
    /// The size of the output before encryption.
    pub bytes: u64,
    pub cost: ResponseCost,
    pub at: Timestamp,
}

/// The number of things an owner has stored, and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoredTotals {
    /// Responses, conversations and their items.
    pub objects: u64,
    pub bytes: u64,
}

/// The writes about stored responses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseWrite {
    Add(SealedResponse),
    /// Claims a background response, with the next fence. `Missing` if another worker has it.
    Claim {
        id: ResponseId,
        fence: u64,
        lease_until: Timestamp,
        at: Timestamp,
    },
    /// `Missing` if another worker has it.
    Beat {
        id: ResponseId,
        fence: u64,
        lease_until: Timestamp,
    },
    /// Stores events after the last ones. `Missing` if another worker has the response.
    AddEvents {
        id: ResponseId,
        fence: u64,
        events: SealedEvents,
    },
    /// No change if it has ended. Written in one group with the charge or the release of its hold,
    /// and in no case a reason to refuse that group. A deleted one stays without contents.
    End(ResponseEnd),
    /// No change if it has ended.
    WantCancel(ResponseId),
    /// Ends every lease now: the processes that held them are dead.
    BreakLeases,
    /// Deletes the contents for good. A background response in progress is to be cancelled.
    Delete {
        owner: OwnerId,
        id: ResponseId,
    },
    /// Deletes the contents of expired responses, and the rows of deleted ones that have ended: at
    /// most `rows_max` of each.
    DropExpired {
        now: Timestamp,
        rows_max: usize,
    },
}

/// Filters of a list of responses, newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseFilter {
    pub owner: OwnerId,
    /// Only responses older than this one.
    pub before: Option<ResponseId>,
    /// Responses that expire later are listed.
    pub now: Timestamp,
    pub limit: usize,
}

impl ResponseState {
    pub const ALL: [ResponseState; 6] = [
        ResponseState::Queued,
        ResponseState::InProgress,
        ResponseState::Completed,
        ResponseState::Incomplete,
        ResponseState::Failed,
        ResponseState::Cancelled,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ResponseState::Queued => "QUEUED",
            ResponseState::InProgress => "IN_PROGRESS",
            ResponseState::Completed => "COMPLETED",
            ResponseState::Incomplete => "INCOMPLETE",
            ResponseState::Failed => "FAILED",
            ResponseState::Cancelled => "CANCELLED",
        }
    }

    pub fn parse(name: &str) -> Option<ResponseState> {
        ResponseState::ALL.into_iter().find(|state| state.name() == name)
    }

    pub fn is_open(self) -> bool {
        matches!(self, ResponseState::Queued | ResponseState::InProgress)
    }
}

/// Prints everything but the key.
impl std::fmt::Debug for ResponseRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ResponseRecord { id, state, model, fence, events, .. } = self;
        let (id, state) = (id.0, state.name());
        write!(f, "ResponseRecord({id}, {state}, {model}, fence {fence}, {events} events)")
    }
}
