//! The schema and its history: numbered migrations, embedded, applied forward only, by one node at
//! a time.
//!
//! A release first adds what the next one needs; a later one removes what no release in use needs
//! any more. So nodes of two releases can share a database during an upgrade: each migration
//! records the oldest version that works with it, each node the newest version that it knows, and a
//! migration that would break a running node is refused.

use store::error::StoreError;
use store::schema::{NodeSchema, PendingMigration, SchemaStatus};
use tokio_postgres::Row;

use crate::columns::read_column;
use crate::error::PgError;
use crate::node::{self, ENTRY_LOCK};
use crate::session::PostgresSession;

/// Migrates a database from the previous version to this one.
pub(crate) struct SchemaMigration {
    pub(crate) version: i64,
    pub(crate) name: &'static str,
    /// The oldest schema version whose releases can use the database after this migration.
    pub(crate) compatible_from: i64,
    pub(crate) sql: &'static str,
}

/// Released migrations are never edited: a change is a new migration.
const MIGRATIONS: [SchemaMigration; 9] = [
    SchemaMigration {
        version: 1,
        name: "create_books_and_works",
        compatible_from: 1,
        sql: concat!(
            include_str!("../migrations/0001_create_books_and_works/1_books.sql"),
            include_str!("../migrations/0001_create_books_and_works/2_works.sql"),
        ),
    },
    SchemaMigration {
        version: 2,
        name: "note_what_nodes_know",
        compatible_from: 1,
        sql: include_str!("../migrations/0002_note_what_nodes_know.sql"),
    },
    SchemaMigration {
        version: 3,
        name: "count_audit_rows",
        compatible_from: 1,
        sql: include_str!("../migrations/0003_count_audit_rows.sql"),
    },
    SchemaMigration {
        version: 4,
        name: "mark_operator_keys",
        compatible_from: 1,
        sql: include_str!("../migrations/0004_mark_operator_keys.sql"),
    },
    SchemaMigration {
        version: 5,
        name: "digest_usage_rows",
        compatible_from: 1,
        sql: include_str!("../migrations/0005_digest_usage_rows.sql"),
    },
    SchemaMigration {
        version: 6,
        name: "sum_sessions",
        compatible_from: 1,
        sql: include_str!("../migrations/0006_sum_sessions.sql"),
    },
    SchemaMigration {
        version: 7,
        name: "store_responses",
        compatible_from: 1,
        sql: include_str!("../migrations/0007_store_responses.sql"),
    },
    SchemaMigration {
        version: 8,
        name: "create_batches",
        compatible_from: 1,
        sql: include_str!("../migrations/0008_create_batches.sql"),
    },
    SchemaMigration {
        version: 9,
        name: "admit_debts",
        // Nothing writes the codes yet. The migration for what writes them raises this, because
        // earlier releases could not read the journal.
        compatible_from: 1,
        sql: include_str!("../migrations/0009_admit_debts.sql"),
    },
];

/// The newest version that this release knows.
pub(crate) const KNOWN: i64 = MIGRATIONS[MIGRATIONS.len() - 1].version;

/// The version since which nodes record the newest migration that they know.
const NODES_TELL_SINCE: i64 = 2;

const MIGRATION_LOCK: i64 = 0x546F_6C6C_0002;

/// Applies the missing migrations, all in one transaction.
pub(crate) async fn apply_migrations(session: &PostgresSession) -> Result<(), StoreError> {
    Ok(migrate_with(session, &MIGRATIONS).await?)
}

async fn migrate_with(
    session: &PostgresSession,
    migrations: &[SchemaMigration],
) -> Result<(), PgError> {
    session.begin_transaction("BEGIN").await?;
    match migrate_up(session, migrations).await {
        Ok(()) => session.end_transaction("COMMIT").await,
        Err(error) => {
            session.end_transaction("ROLLBACK").await?;
            Err(error)
        }
    }
}

async fn migrate_up(
    session: &PostgresSession,
    migrations: &[SchemaMigration],
) -> Result<(), PgError> {
    // A second node waits here, and finds everything done. No node registers meanwhile either.
    for lock in [MIGRATION_LOCK, ENTRY_LOCK] {
        session.run(&format!("SELECT pg_advisory_xact_lock({lock})")).await?;
    }
    let found = read_version(session).await?;
    let known = migrations.last().map_or(0, |migration| migration.version);
    if known < found.version {
        return check_compatible(&found, known);
    }
    if found.version == 0 {
        let create = "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY, \
                      compatible_from BIGINT NOT NULL, \
                      applied_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())";
        session.run(create).await?;
    }
    for migration in migrations.iter().filter(|migration| found.version < migration.version) {
        if NODES_TELL_SINCE < migration.version {
            check_nodes(session, migration).await?;
        }
        session.run(migration.sql).await?;
        let record = "INSERT INTO schema_version (version, compatible_from) VALUES ($1, $2)";
        session.execute(record, &[&migration.version, &migration.compatible_from]).await?;
    }
    Ok(())
}

/// Refuses a migration that would break a running node.
async fn check_nodes(
    session: &PostgresSession,
    migration: &SchemaMigration,
) -> Result<(), PgError> {
    let running = node::known_by_running(session).await?;
    explain_blocking_nodes(migration, &running)
        .map_or(Ok(()), |words| Err(refuse_unsuitable(words)))
}

/// The reason why a migration cannot be applied while these nodes run; None if it can.
fn explain_blocking_nodes(migration: &SchemaMigration, running: &[NodeSchema]) -> Option<String> {
    let old = running.iter().filter(|node| node.known < migration.compatible_from);
    let old: Vec<String> = old.map(|node| format!("`{}`", node.name)).collect();
    (!old.is_empty()).then(|| {
        format!(
            "migration {} of the schema ({}) can only be applied when every node knows version {} or \
             later; these do not, and are still running: {}. Replace them with a release that knows \
             it, or stop them, and try again",
            migration.version,
            migration.name,
            migration.compatible_from,
            old.join(", ")
        )
    })
}

/// Refuses a database that this release cannot use, because another one has migrated it meanwhile.
pub(crate) async fn check_still_usable(session: &PostgresSession) -> Result<(), PgError> {
    let found = read_version(session).await?;
    if found.version <= KNOWN { Ok(()) } else { check_compatible(&found, KNOWN) }
}

/// The schema status of the database; changes nothing.
pub(crate) async fn read_status(session: &PostgresSession) -> Result<SchemaStatus, PgError> {
    let found = read_version(session).await?;
    let nodes = match found.version {
        0 => Vec::new(),
        _ if found.version < NODES_TELL_SINCE => {
            let nodes = node::list_nodes(session).await?.into_iter().filter(|node| node.is_live);
            nodes.map(|node| NodeSchema { name: node.name, known: 1 }).collect()
        }
        _ => node::known_by_running(session).await?,
    };
    let pending = MIGRATIONS.iter().filter(|migration| found.version < migration.version);
    let pending = pending.map(|migration| PendingMigration {
        version: migration.version,
        name: migration.name,
        usable_from: migration.compatible_from,
    });
    Ok(SchemaStatus {
        version: found.version,
        usable_from: found.compatible_from,
        known: KNOWN,
        pending: pending.collect(),
        nodes,
    })
}

struct SchemaVersion {
    version: i64,
    compatible_from: i64,
}

/// The newest migration that was applied; zero in an empty database.
async fn read_version(session: &PostgresSession) -> Result<SchemaVersion, PgError> {
    let tables = "SELECT count(*), count(*) FILTER (WHERE tablename = 'schema_version') \
                  FROM pg_tables WHERE schemaname = current_schema()";
    let row = session.single_row(tables, &[]).await?;
    let (tables, ours): (i64, i64) = (read_column(&row, 0)?, read_column(&row, 1)?);
    if ours == 0 && tables != 0 {
        return Err(refuse_unsuitable(
            "the database belongs to another program; point `store.url` at another one".into(),
        ));
    }
    if ours == 0 {
        return Ok(SchemaVersion { version: 0, compatible_from: 0 });
    }
    let newest = "SELECT version, compatible_from FROM schema_version \
                  ORDER BY version DESC LIMIT 1";
    let read = |row: Row| {
        Ok(SchemaVersion { version: read_column(&row, 0)?, compatible_from: read_column(&row, 1)? })
    };
    let none = Ok(SchemaVersion { version: 0, compatible_from: 0 });
    session.row(newest, &[]).await?.map_or(none, read)
}

fn check_compatible(found: &SchemaVersion, known: i64) -> Result<(), PgError> {
    if found.compatible_from <= known {
        return Ok(());
    }
    Err(refuse_unsuitable(format!(
        "the database has schema version {}, which programs that know version {} or later can use, \
         and this program knows only up to {known}; run the release that wrote it, or a later one",
        found.version, found.compatible_from
    )))
}

fn refuse_unsuitable(message: String) -> PgError {
    PgError::Refused(StoreError::Unsuitable(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_numbered_without_gaps_and_none_asks_for_more_than_it_brings() {
        for (migration, version) in MIGRATIONS.iter().zip(1..) {
            assert_eq!(migration.version, version);
            assert!(migration.compatible_from <= version, "{}", migration.name);
        }
    }

    #[test]
    fn each_step_has_a_file_or_a_folder_with_its_number_and_name() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");
        let files = std::fs::read_dir(folder).unwrap();
        let mut files: Vec<_> =
            files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        let names: Vec<_> =
            files.iter().map(|file| file.strip_suffix(".sql").unwrap_or(file)).collect();
        let named = |step: &SchemaMigration| format!("{:04}_{}", step.version, step.name);
        assert_eq!(names, MIGRATIONS.iter().map(named).collect::<Vec<_>>());
    }

    #[test]
    fn a_step_waits_for_the_nodes_that_could_not_live_with_it_and_for_no_others() {
        let migration =
            SchemaMigration { version: 4, name: "drop_old", compatible_from: 3, sql: "" };
        let node = |name: &str, known| NodeSchema { name: name.to_owned(), known };
        assert_eq!(explain_blocking_nodes(&migration, &[]), None);
        assert_eq!(explain_blocking_nodes(&migration, &[node("a", 3), node("b", 4)]), None);
        let words = explain_blocking_nodes(&migration, &[node("a", 3), node("b", 2), node("c", 1)])
            .unwrap();
        assert!(words.contains("`b`, `c`") && !words.contains("`a`"), "{words}");
    }
}
