//! The schema and its history: numbered steps, embedded, applied forward only, by one node at a
//! time.
//!
//! A step first adds what the next release needs, and a later one removes what no release in use
//! needs any more. So nodes of two releases can share a database while one replaces the other: each
//! step records the oldest release that can live with it.

use store::error::StoreError;

use crate::columns::get;
use crate::fault::Fault;
use crate::session::Session;

/// Brings a database from the version before to this one.
pub(crate) struct Step {
    pub(crate) version: i64,
    /// The oldest version whose programs can work on the database after this step.
    pub(crate) compatible_from: i64,
    pub(crate) sql: &'static str,
}

/// Steps that were released are never edited: a change is a new step.
const STEPS: [Step; 1] = [Step {
    version: 1,
    compatible_from: 1,
    sql: concat!(
        include_str!("../migrations/0001_create_books.sql"),
        include_str!("../migrations/0001_create_works.sql"),
    ),
}];

const MIGRATION_LOCK: i64 = 0x546F_6C6C_0002;

/// Applies the steps that the database does not have, all in one transaction.
pub(crate) async fn migrate(session: &Session) -> Result<(), StoreError> {
    Ok(migrate_with(session, &STEPS).await?)
}

async fn migrate_with(session: &Session, steps: &[Step]) -> Result<(), Fault> {
    session.begin("BEGIN").await?;
    match step_up(session, steps).await {
        Ok(()) => session.end("COMMIT").await,
        Err(fault) => {
            session.end("ROLLBACK").await?;
            Err(fault)
        }
    }
}

async fn step_up(session: &Session, steps: &[Step]) -> Result<(), Fault> {
    // A second node waits here, and finds everything done.
    session.run(&format!("SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")).await?;
    let found = found(session).await?;
    let known = steps.last().map_or(0, |step| step.version);
    if known < found.version {
        return if found.compatible_from <= known { Ok(()) } else { Err(too_new(&found, known)) };
    }
    for step in steps.iter().filter(|step| found.version < step.version) {
        session.run(step.sql).await?;
        let record = "INSERT INTO schema_version (version, compatible_from) VALUES ($1, $2)";
        session.execute(record, &[&step.version, &step.compatible_from]).await?;
    }
    Ok(())
}

struct Found {
    version: i64,
    compatible_from: i64,
}

/// The newest step that was applied. An empty database gets the table that records them.
async fn found(session: &Session) -> Result<Found, Fault> {
    let tables = "SELECT count(*), count(*) FILTER (WHERE tablename = 'schema_version') \
                  FROM pg_tables WHERE schemaname = current_schema()";
    let row = session.one(tables, &[]).await?;
    let (tables, ours): (i64, i64) = (get(&row, 0)?, get(&row, 1)?);
    if ours == 0 && tables != 0 {
        return Err(Fault::Refused(StoreError::Unsuitable(
            "the database belongs to another program; point `store.url` at another one".into(),
        )));
    }
    if ours == 0 {
        let create = "CREATE TABLE schema_version (version BIGINT PRIMARY KEY, \
                      compatible_from BIGINT NOT NULL, \
                      applied_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())";
        session.run(create).await?;
    }
    let newest = "SELECT version, compatible_from FROM schema_version \
                  ORDER BY version DESC LIMIT 1";
    match session.row(newest, &[]).await? {
        Some(row) => Ok(Found { version: get(&row, 0)?, compatible_from: get(&row, 1)? }),
        None => Ok(Found { version: 0, compatible_from: 0 }),
    }
}

fn too_new(found: &Found, known: i64) -> Fault {
    Fault::Refused(StoreError::Unsuitable(format!(
        "the database has schema version {}, which programs that know version {} or later can use, \
         and this program knows only up to {known}; run the release that wrote it, or a later one",
        found.version, found.compatible_from
    )))
}
