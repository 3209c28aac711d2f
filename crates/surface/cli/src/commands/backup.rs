//! `tollgate backup` and `tollgate restore`: the whole database in one file.

use std::path::Path;

use control::actor::AuditActor;
use control::operation::ControlOperation;
use control::reply::ControlReply;
use ledger::verify_books;
use moment::{Clock, SystemClock};
use store::Store;
use store::audit::AuditEntry;
use store::sqlite::restore::{self, StagedDatabase};
use store::sqlite::{SqliteOptions, SqliteStore};
use store::write::{StoreWrite, WriteGroup};

use crate::args;
use crate::command_environment::CommandEnvironment;
use crate::database;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{print_json, print_line};

/// The maximum number of differences listed for an inconsistent backup.
const DIFFERENCES_SHOWN_MAX: usize = 10;

pub(crate) async fn back_up(
    operator: &mut OperationClient<'_>,
    command: &args::BackupArgs,
) -> Result<(), CommandError> {
    // The service has a different working directory.
    let path = std::path::absolute(&command.file)?;
    let reply = operator.perform(ControlOperation::Backup { path }).await?;
    let ControlReply::BackedUp(made) = reply else { return Err(unexpected_reply_error()) };
    if command.listing.json {
        return print_json(&made);
    }
    print_line(&format!(
        "{}: {} bytes, as of {}, up to transfer {}",
        made.path, made.bytes, made.made_at, made.last_transfer
    ))
}

/// Verifies the backup before anything is replaced: a damaged backup changes nothing.
pub(crate) async fn restore_backup(
    operator: &OperationClient<'_>,
    command: &args::RestoreArgs,
) -> Result<(), CommandError> {
    if operator.is_running() {
        return Err(CommandError::Failed(
            "a service is running on this data directory; stop it, or use another --data-dir"
                .to_owned(),
        ));
    }
    let database = database_file(operator.surroundings)?;
    let staged = StagedDatabase::copy(&command.file, &database)?;
    let (transfers, made_at) = check_backup(staged.path(), &command.file).await?;
    let kept = staged.move_to_final_path(command.replace, SystemClock.now())?;
    for old in kept {
        print_line(&format!("kept the previous database as {}", old.display()))?;
    }
    print_line(&format!(
        "restored {} of {made_at}: {transfers} transfers, every balance is right",
        database.display()
    ))
}

fn database_file(surroundings: &CommandEnvironment) -> Result<std::path::PathBuf, CommandError> {
    let ground = surroundings.gather_sources(Vec::new()).read_database_config()?;
    database::resolve_sqlite_path(&surroundings.data_dir.path, &ground.store)
}

async fn check_backup(staged: &Path, file: &Path) -> Result<(u64, String), CommandError> {
    let store = SqliteStore::open(&SqliteOptions::durable(staged))?;
    let made_at = store.setting(restore::RESTORED_FROM).await?.unwrap_or_default();
    let made_at = String::from_utf8_lossy(&made_at).into_owned();
    let report = verify_books(&store).await?;
    if !report.is_clean() {
        let told: Vec<String> =
            report.violations.iter().take(DIFFERENCES_SHOWN_MAX).map(ToString::to_string).collect();
        return Err(CommandError::Failed(format!(
            "{} failed verification, so nothing was changed:\n{}",
            file.display(),
            told.join("\n")
        )));
    }
    let told = AuditEntry {
        at: SystemClock.now(),
        actor: AuditActor::of_this_process().name().to_owned(),
        action: "restore".to_owned(),
        subject: file.display().to_string(),
        detail: format!("as of {made_at}"),
    };
    store.commit(WriteGroup::from_write(StoreWrite::AddAudit(told))).await?;
    Ok((report.transfers, made_at))
}
