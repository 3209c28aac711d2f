//! `tollgate doctor`: checks everything that the configuration names, and says how to fix problems.

mod configuration;
mod database;
mod directory;
mod limits;
mod listeners;
mod machine;
mod model_check;
mod models;
mod nodes;
mod payments;
mod probe_client;
pub(crate) mod providers;
mod services;

use serde::Serialize;

use crate::args;
use crate::command_environment::CommandEnvironment;
use crate::engine::BuiltInEngine;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::{BAD, DOUBTFUL, GOOD, TableCell, TextTable, print_json};

/// The outcome of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CheckFinding {
    pub(crate) check: String,
    pub(crate) verdict: CheckVerdict,
    /// The result of the check.
    pub(crate) found: String,
    /// The action that fixes the problem.
    pub(crate) fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckVerdict {
    Ok,
    Warning,
    Failed,
}

impl CheckFinding {
    pub(crate) fn ok(check: impl Into<String>, found: impl Into<String>) -> CheckFinding {
        CheckFinding {
            check: check.into(),
            verdict: CheckVerdict::Ok,
            found: found.into(),
            fix: None,
        }
    }

    pub(crate) fn warning(
        check: impl Into<String>,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> CheckFinding {
        let fix = Some(fix.into());
        CheckFinding {
            check: check.into(),
            verdict: CheckVerdict::Warning,
            found: found.into(),
            fix,
        }
    }

    pub(crate) fn failed(
        check: impl Into<String>,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> CheckFinding {
        let fix = Some(fix.into());
        CheckFinding {
            check: check.into(),
            verdict: CheckVerdict::Failed,
            found: found.into(),
            fix,
        }
    }
}

pub(crate) async fn run_doctor_command(
    surroundings: &CommandEnvironment,
    listing: args::OutputOptions,
    engine: BuiltInEngine,
) -> Result<(), CommandError> {
    let findings = collect_findings(surroundings, engine).await?;
    if listing.json {
        print_json(&findings)?;
    } else {
        print_findings(&findings)?;
    }
    let has_failed = findings.iter().any(|finding| finding.verdict == CheckVerdict::Failed);
    if has_failed { Err(CommandError::Reported) } else { Ok(()) }
}

async fn collect_findings(
    surroundings: &CommandEnvironment,
    engine: BuiltInEngine,
) -> Result<Vec<CheckFinding>, CommandError> {
    let sources = surroundings.gather_sources(Vec::new());
    let config = sources.read();
    let mut operator = OperationClient::connect(surroundings, engine).await?;
    let mut findings = configuration::check_configuration(&sources, &config);
    findings.push(directory::check_data_dir(&surroundings.data_dir));
    findings.extend(machine::check_machine());
    findings.extend(database::check_database(surroundings, &sources, &mut operator).await);
    if let Ok(config) = &config {
        findings.extend(models::check_built_in_models(surroundings, engine, config));
        findings.extend(listeners::check_listeners(&config.server, operator.is_running()));
        findings.extend(providers::check_providers(&config.providers, &config.models).await);
        findings.extend(services::check_services(config).await);
        findings.extend(limits::check_shared_limits(&config.limits).await);
        findings.extend(nodes::check_chain_nodes(&config.rpc).await);
        findings.extend(payments::check_payments(&config.x402).await);
    }
    Ok(findings)
}

fn print_findings(findings: &[CheckFinding]) -> Result<(), CommandError> {
    let mut table = TextTable::new(&["", "CHECK", "FOUND", "TO DO"]);
    for finding in findings {
        let (word, style) = match finding.verdict {
            CheckVerdict::Ok => ("ok", GOOD),
            CheckVerdict::Warning => ("warning", DOUBTFUL),
            CheckVerdict::Failed => ("failed", BAD),
        };
        table.push_row([
            TableCell::with_style(word, style),
            (&finding.check).into(),
            (&finding.found).into(),
            finding.fix.clone().unwrap_or_default().into(),
        ]);
    }
    table.print()
}
