//! `tollgate migrate`: shows the schema version and applies pending migrations.

use config::sections::store::StoreLocation;
use serde_json::json;
use store::schema::SchemaStatus;
use store::sqlite::{SqliteOptions, SqliteStore, schema};

use crate::args;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::{print_json, print_line};

pub(crate) async fn run_migrate_command(
    operator: &OperationClient<'_>,
    command: &args::MigrateArgs,
) -> Result<(), CommandError> {
    let ground = operator.surroundings.gather_sources(Vec::new()).read_database_config()?;
    let location = match ground.store.location {
        StoreLocation::Sqlite(file) => {
            StoreLocation::Sqlite(operator.surroundings.data_dir.path.join(file))
        }
        postgres @ StoreLocation::Postgres(_) => postgres,
    };
    let before = read_schema_status(&location).await?;
    let applies = !command.dry_run && !before.pending.is_empty();
    if applies {
        apply_migrations(&location).await?;
    }
    if command.listing.json {
        print_json(&as_json(&before, applies))?;
    } else {
        print_schema_status(&before, applies)?;
    }
    // Releases older than `usable_from` must not use the database.
    if before.known < before.usable_from {
        return Err(CommandError::Failed(format!(
            "this release cannot use the database: it knows version {}, and {} or later is needed. \
             Run the release that wrote it, or a later one",
            before.known, before.usable_from
        )));
    }
    Ok(())
}

async fn read_schema_status(location: &StoreLocation) -> Result<SchemaStatus, CommandError> {
    Ok(match location {
        StoreLocation::Sqlite(file) => schema::read_status(file)?,
        StoreLocation::Postgres(url) => store_postgres::schema_status(url.expose()).await?,
    })
}

/// Applies the migrations. Opening an SQLite file migrates it, and fails while a service uses it.
async fn apply_migrations(location: &StoreLocation) -> Result<(), CommandError> {
    match location {
        StoreLocation::Sqlite(file) => drop(SqliteStore::open(&SqliteOptions::durable(file))?),
        StoreLocation::Postgres(url) => store_postgres::migrate_schema(url.expose()).await?,
    }
    Ok(())
}

fn print_schema_status(status: &SchemaStatus, applied: bool) -> Result<(), CommandError> {
    let SchemaStatus { version, known, pending, nodes, .. } = status;
    print_line(&format!("the database has schema version {version}, this release knows {known}"))?;
    for node in nodes {
        print_line(&format!("the node `{}` is running, and knows {}", node.name, node.known))?;
    }
    for step in pending {
        let verb = if applied { "applied" } else { "would apply" };
        print_line(&format!("{verb} {} {}", step.version, step.name))?;
    }
    match (pending.is_empty(), applied) {
        (true, _) => print_line("nothing to do"),
        (false, true) => print_line(&format!("the database has schema version {known} now")),
        (false, false) => Ok(()),
    }
}

fn as_json(status: &SchemaStatus, applied: bool) -> serde_json::Value {
    let steps = status.pending.iter().map(|step| {
        json!({ "version": step.version, "name": step.name, "usableFrom": step.usable_from })
    });
    let nodes = status.nodes.iter();
    let nodes = nodes.map(|node| json!({ "name": node.name, "known": node.known }));
    json!({
        "version": if applied { status.known } else { status.version },
        "known": status.known,
        "usableFrom": status.usable_from,
        "steps": steps.collect::<Vec<_>>(),
        "applied": applied,
        "nodes": nodes.collect::<Vec<_>>(),
    })
}
