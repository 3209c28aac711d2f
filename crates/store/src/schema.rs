//! Which version of its tables a database has, and what a release would do about it.

/// How a database stands to this release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaStatus {
    /// The newest step that was applied; 0 for an empty database.
    pub version: i64,
    /// The oldest version whose programs can use it as it is.
    pub usable_from: i64,
    /// The newest step that this release has.
    pub known: i64,
    /// The steps that this release would apply.
    pub pending: Vec<PendingMigration>,
    /// Processes that work on the database now, where several can.
    pub nodes: Vec<NodeSchema>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    pub version: i64,
    pub name: &'static str,
    /// Programs that do not know this version must have been replaced before it is applied.
    pub usable_from: i64,
}

/// A running node, and the newest version that its program knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSchema {
    pub name: String,
    pub known: i64,
}
