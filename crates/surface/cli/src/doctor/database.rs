//! Checks that the service answers, and that its database is consistent.

use config::sections::store::StoreLocation;
use config::sources::ConfigSources;
use control::operation::ControlOperation;
use control::reply::{ControlReply, LedgerVerification};

use super::CheckFinding;
use crate::command_environment::CommandEnvironment;
use crate::failure::CommandError;
use crate::operator::OperationClient;

pub(crate) async fn check_database(
    surroundings: &CommandEnvironment,
    sources: &ConfigSources,
    operator: &mut OperationClient<'_>,
) -> Vec<CheckFinding> {
    // An invalid configuration has already been reported.
    let Ok(ground) = sources.read_database_config() else { return Vec::new() };
    let mut findings = vec![check_service(operator).await];
    if let StoreLocation::Sqlite(file) = &ground.store.location {
        let path = surroundings.data_dir.path.join(file);
        if !operator.is_running() && !path.exists() {
            let found = format!("{}, made on the first start", path.display());
            findings.push(CheckFinding::ok("database", found));
            return findings;
        }
    }
    findings.push(check_ledger(operator).await);
    findings.extend(journal_time(operator).await);
    findings
}

/// Reports a journal that is dated in the future.
async fn journal_time(operator: &mut OperationClient<'_>) -> Option<CheckFinding> {
    let Ok(ControlReply::Status(status)) = operator.perform(ControlOperation::Ping).await else {
        return None;
    };
    let ahead_s = status.journal_ahead_s?;
    let found = format!(
        "dated {ahead_s} s ahead of the clock: until then, limits and allowances do not advance"
    );
    let fix = "set the clock right; if it is, run `tollgate ledger mend-time --reason TEXT`";
    Some(CheckFinding::failed("journal", found, fix))
}

async fn check_service(operator: &mut OperationClient<'_>) -> CheckFinding {
    if !operator.is_running() {
        return CheckFinding::ok("service", "not running");
    }
    match operator.perform(ControlOperation::Ping).await {
        Ok(ControlReply::Status(status)) if status.can_write => {
            let found =
                format!("running since {} as process {}", status.started_at, status.process);
            CheckFinding::ok("service", found)
        }
        Ok(_) => {
            let fix = "free space on the disk of the data directory";
            CheckFinding::failed(
                "service",
                "running, but cannot write: paid requests are refused",
                fix,
            )
        }
        Err(error) => CheckFinding::failed("service", error.to_string(), "restart it"),
    }
}

/// Verifies the ledger. Opening the database also migrates it; verification reads the whole
/// journal.
async fn check_ledger(operator: &mut OperationClient<'_>) -> CheckFinding {
    match operator.verify_ledger().await {
        Ok(LedgerVerification { transfers, differences, .. }) => match differences.first() {
            None => CheckFinding::ok(
                "database",
                format!("verified: {transfers} transfers, every balance is right"),
            ),
            Some(first) => {
                let fix =
                    "stop charging, keep a copy of the database, and run `tollgate ledger verify`";
                CheckFinding::failed("database", first.clone(), fix)
            }
        },
        Err(CommandError::Unreachable(message)) => CheckFinding::failed(
            "database",
            message,
            "stop the other process, or wait until it answers",
        ),
        Err(error) => {
            let fix = "make the database reachable, restore it from a backup, or free space on \
                       its disk";
            CheckFinding::failed("database", error.to_string(), fix)
        }
    }
}
