//! Checks that the service answers, and that its database is consistent.

use config::sections::store::StoreLocation;
use config::sources::Sources;
use control::operation::Operation;
use control::reply::{Reply, Verification};

use super::Finding;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::surroundings::Surroundings;

pub(crate) async fn check(
    surroundings: &Surroundings,
    sources: &Sources,
    operator: &mut Operator<'_>,
) -> Vec<Finding> {
    // An invalid configuration has already been reported.
    let Ok(ground) = sources.read_ground() else { return Vec::new() };
    let mut findings = vec![service(operator).await];
    if let StoreLocation::Sqlite(file) = &ground.store.location {
        let path = surroundings.data_dir.path.join(file);
        if !operator.is_running() && !path.exists() {
            let found = format!("{}, made on the first start", path.display());
            findings.push(Finding::ok("database", found));
            return findings;
        }
    }
    findings.push(books(operator).await);
    findings.extend(journal_time(operator).await);
    findings
}

/// Reports a journal that is dated in the future.
async fn journal_time(operator: &mut Operator<'_>) -> Option<Finding> {
    let Ok(Reply::Status(status)) = operator.perform(Operation::Ping).await else { return None };
    let ahead_s = status.journal_ahead_s?;
    let found = format!(
        "dated {ahead_s} s ahead of the clock: limits and allowances stand still meanwhile"
    );
    let fix = "set the clock right; if it is, run `tollgate ledger mend-time --reason TEXT`";
    Some(Finding::failed("journal", found, fix))
}

async fn service(operator: &mut Operator<'_>) -> Finding {
    if !operator.is_running() {
        return Finding::ok("service", "not running");
    }
    match operator.perform(Operation::Ping).await {
        Ok(Reply::Status(status)) if status.can_write => {
            let found =
                format!("running since {} as process {}", status.started_at, status.process);
            Finding::ok("service", found)
        }
        Ok(_) => {
            let fix = "free space on the disk of the data directory";
            Finding::failed("service", "running, but cannot write and takes no money", fix)
        }
        Err(error) => Finding::failed("service", error.to_string(), "restart it"),
    }
}

/// Verifies the ledger. Opening the database also migrates it; verification reads the whole
/// journal.
async fn books(operator: &mut Operator<'_>) -> Finding {
    match operator.verify().await {
        Ok(Verification { transfers, differences, .. }) => match differences.first() {
            None => Finding::ok(
                "database",
                format!("sound; {transfers} transfers, every balance right"),
            ),
            Some(first) => {
                let fix =
                    "stop charging, keep a copy of the database, and run `tollgate ledger verify`";
                Finding::failed("database", first.clone(), fix)
            }
        },
        Err(Failure::Unreachable(message)) => {
            Finding::failed("database", message, "stop the other process, or wait until it answers")
        }
        Err(error) => {
            let fix = "see that the database is reached, restore it from a backup, or free space on \
                       its disk";
            Finding::failed("database", error.to_string(), fix)
        }
    }
}
