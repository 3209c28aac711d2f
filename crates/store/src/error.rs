//! Why the store did not do what it was asked.

/// A variant exists where a caller does something different about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another process owns the database.
    #[error("{path} is in use by another process; stop it, or talk to it through its socket")]
    InUse { path: String },
    /// Another node works on a database that only one may work on.
    #[error(
        "the database is in use by the node `{node}`; stop that one, or use its commands on its own \
         machine"
    )]
    Occupied { node: String },
    /// The database was written by a later release, or is not ours at all.
    #[error("{0}")]
    Unsuitable(String),
    /// A row with the same identity exists: the group was done before, or a name is taken.
    #[error("already there: {0}")]
    Duplicate(String),
    /// The row to be changed is not there, or is not in the state that the change needs.
    #[error("nothing to change: {0}")]
    Missing(&'static str),
    /// The owner has as many of these as are allowed.
    #[error("there are {most} of these already, and no more are allowed")]
    TooMany { most: usize },
    /// A constraint of the schema refused the group; nothing of it was written.
    #[error("refused by a constraint of the database: {0}")]
    Refused(String),
    /// There is no room left to write. Nothing that was not acknowledged is kept.
    #[error("the database has no room to write; free space on its disk")]
    Full,
    /// The queue of the writer is at its bound.
    #[error("too many writes are waiting; try again in a moment")]
    Busy,
    /// Another node may have taken over what this one was trusted with: nothing was written, and
    /// nothing more will be until the lease is back.
    #[error("this node has lost its lease on the database; if that lasts, restart it")]
    Fenced,
    /// The store was closed.
    #[error("the database was closed")]
    Closed,
    /// Anything else: logged, and never shown to a caller of the service.
    #[error("the database failed: {0}")]
    Failed(String),
}
