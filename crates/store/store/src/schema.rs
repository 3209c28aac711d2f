//! The schema version of a database, and the migrations that a release would apply.

/// The schema version of a database compared with this release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaStatus {
    /// The newest migration that was applied; 0 for an empty database.
    pub version: i64,
    /// The oldest schema version whose releases can use the database as it is.
    pub usable_from: i64,
    /// The newest migration of this release.
    pub known: i64,
    /// The migrations that this release would apply.
    pub pending: Vec<PendingMigration>,
    /// The processes that use the database now, if several can.
    pub nodes: Vec<NodeSchema>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingMigration {
    pub version: i64,
    pub name: &'static str,
    /// Releases that do not know this version must be replaced before the migration is applied.
    pub usable_from: i64,
}

/// A running node, and the newest migration that its release knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeSchema {
    pub name: String,
    pub known: i64,
}
