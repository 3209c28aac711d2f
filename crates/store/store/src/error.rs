//! Errors of the store.

/// There is one variant for each case that callers handle differently.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another process owns the database.
    #[error("{path} is in use by another process; stop it, or talk to it through its socket")]
    InUse { path: String },
    /// Another node uses a database that allows only one.
    #[error(
        "the database is in use by the node `{node}`; stop that one, or use its commands on its own \
         machine"
    )]
    Occupied { node: String },
    /// The database was written by a later release, or by another program.
    #[error("{0}")]
    Unsuitable(String),
    /// A row with the same identity exists: the group was committed before, or a name is taken.
    #[error("already there: {0}")]
    Duplicate(String),
    /// The row to change does not exist, or is not in the required state.
    #[error("nothing to change: {0}")]
    Missing(&'static str),
    /// The owner has the maximum number of these.
    #[error("there are {most} of these already, and no more are allowed")]
    TooMany { most: usize },
    /// A constraint of the schema refused the group; nothing of it was written.
    #[error("refused by a constraint of the database: {0}")]
    Refused(String),
    /// The disk or the database is full. Nothing that was not acknowledged is kept.
    #[error("the database has no room to write; free space on its disk")]
    Full,
    /// The writer's queue is full.
    #[error("too many writes are waiting; try again in a moment")]
    Busy,
    /// Another node may have taken over this node's work: nothing was written, and nothing will be
    /// until the lease is back.
    #[error("this node has lost its lease on the database; if that lasts, restart it")]
    Fenced,
    /// The store was closed.
    #[error("the database was closed")]
    Closed,
    /// Any other error: logged, and never shown to a caller of the service.
    #[error("the database failed: {0}")]
    Failed(String),
}
