//! `tollgate backup` and `tollgate restore`: the whole database in one file.

use std::path::Path;

use control::actor::Actor;
use control::operation::Operation;
use control::reply::Reply;
use ledger::verify;
use moment::{Clock, SystemClock};
use store::Store;
use store::audit::AuditEntry;
use store::sqlite::restore::{self, Staged};
use store::sqlite::{Options, Sqlite};
use store::write::{Group, Write};

use crate::args;
use crate::database;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{print_json, print_line};
use crate::surroundings::Surroundings;

/// The maximum number of differences listed for an inconsistent backup.
const DIFFERENCES_TOLD: usize = 10;

pub(crate) async fn back_up(
    operator: &mut Operator<'_>,
    command: &args::Backup,
) -> Result<(), Failure> {
    // The service has a different working directory.
    let path = std::path::absolute(&command.file)?;
    let reply = operator.perform(Operation::Backup { path }).await?;
    let Reply::BackedUp(made) = reply else { return Err(unexpected()) };
    if command.listing.json {
        return print_json(&made);
    }
    print_line(&format!(
        "{}: {} bytes, as of {}, up to transfer {}",
        made.path, made.bytes, made.made_at, made.last_transfer
    ))
}

/// Verifies the backup before anything is replaced: a damaged backup changes nothing.
pub(crate) async fn restore(
    operator: &Operator<'_>,
    command: &args::Restore,
) -> Result<(), Failure> {
    if operator.is_running() {
        return Err(Failure::Failed(
            "a service runs on this directory; stop it, or restore elsewhere with --data-dir"
                .to_owned(),
        ));
    }
    let database = database_file(operator.surroundings)?;
    let staged = Staged::copy(&command.file, &database)?;
    let (transfers, made_at) = check(staged.path(), &command.file).await?;
    let kept = staged.put_in_place(command.replace, SystemClock.now())?;
    for old in kept {
        print_line(&format!("kept what was there as {}", old.display()))?;
    }
    print_line(&format!(
        "{} is as of {made_at}: {transfers} transfers, every balance is right",
        database.display()
    ))
}

fn database_file(surroundings: &Surroundings) -> Result<std::path::PathBuf, Failure> {
    let ground = surroundings.sources(Vec::new()).read_ground()?;
    database::file(&surroundings.data_dir.path, &ground.store)
}

async fn check(staged: &Path, file: &Path) -> Result<(u64, String), Failure> {
    let store = Sqlite::open(&Options::durable(staged))?;
    let made_at = store.setting(restore::RESTORED_FROM).await?.unwrap_or_default();
    let made_at = String::from_utf8_lossy(&made_at).into_owned();
    let report = verify(&store).await?;
    if !report.is_clean() {
        let told: Vec<String> =
            report.violations.iter().take(DIFFERENCES_TOLD).map(ToString::to_string).collect();
        return Err(Failure::Failed(format!(
            "{} is not sound, so nothing was changed:\n{}",
            file.display(),
            told.join("\n")
        )));
    }
    let told = AuditEntry {
        at: SystemClock.now(),
        actor: Actor::of_this_process().name().to_owned(),
        action: "restore".to_owned(),
        subject: file.display().to_string(),
        detail: format!("as of {made_at}"),
    };
    store.commit(Group::of(Write::AddAudit(told))).await?;
    Ok((report.transfers, made_at))
}
