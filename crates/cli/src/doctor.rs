//! `tollgate doctor`: checks everything that the configuration names, and says how to fix problems.

mod configuration;
mod database;
mod directory;
mod limits;
mod listeners;
mod machine;
mod model_proof;
mod models;
mod nodes;
mod payments;
pub(crate) mod providers;
mod services;

use serde::Serialize;

use crate::args;
use crate::engine::Engine;
use crate::failure::Failure;
use crate::operator::Operator;
use crate::output::{BAD, Cell, DOUBTFUL, GOOD, Listing, print_json};
use crate::surroundings::Surroundings;

/// The outcome of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: String,
    pub(crate) verdict: Verdict,
    /// The result of the check.
    pub(crate) found: String,
    /// The action that fixes the problem.
    pub(crate) fix: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    Ok,
    Warning,
    Failed,
}

impl Finding {
    pub(crate) fn ok(check: impl Into<String>, found: impl Into<String>) -> Finding {
        Finding { check: check.into(), verdict: Verdict::Ok, found: found.into(), fix: None }
    }

    pub(crate) fn warning(
        check: impl Into<String>,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> Finding {
        let fix = Some(fix.into());
        Finding { check: check.into(), verdict: Verdict::Warning, found: found.into(), fix }
    }

    pub(crate) fn failed(
        check: impl Into<String>,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> Finding {
        let fix = Some(fix.into());
        Finding { check: check.into(), verdict: Verdict::Failed, found: found.into(), fix }
    }
}

pub(crate) async fn run(
    surroundings: &Surroundings,
    listing: args::Listing,
    engine: Engine,
) -> Result<(), Failure> {
    let findings = examine(surroundings, engine).await?;
    if listing.json {
        print_json(&findings)?;
    } else {
        print_findings(&findings)?;
    }
    let has_failed = findings.iter().any(|finding| finding.verdict == Verdict::Failed);
    if has_failed { Err(Failure::Reported) } else { Ok(()) }
}

async fn examine(surroundings: &Surroundings, engine: Engine) -> Result<Vec<Finding>, Failure> {
    let sources = surroundings.sources(Vec::new());
    let config = sources.read();
    let mut operator = Operator::connect(surroundings, engine).await?;
    let mut findings = configuration::check(&sources, &config);
    findings.push(directory::check(&surroundings.data_dir));
    findings.extend(machine::check());
    findings.extend(database::check(surroundings, &sources, &mut operator).await);
    if let Ok(config) = &config {
        findings.extend(models::check(surroundings, engine, (&config.engine, &config.log)));
        findings.extend(listeners::check(&config.server, operator.is_running()));
        findings.extend(providers::check(&config.providers, &config.models).await);
        findings.extend(services::check(config).await);
        findings.extend(limits::check(&config.limits).await);
        findings.extend(nodes::check(&config.rpc).await);
        findings.extend(payments::check(&config.x402).await);
    }
    Ok(findings)
}

fn print_findings(findings: &[Finding]) -> Result<(), Failure> {
    let mut table = Listing::new(&["", "CHECK", "FOUND", "TO DO"]);
    for finding in findings {
        let (word, style) = match finding.verdict {
            Verdict::Ok => ("ok", GOOD),
            Verdict::Warning => ("warning", DOUBTFUL),
            Verdict::Failed => ("failed", BAD),
        };
        table.row([
            Cell::styled(word, style),
            (&finding.check).into(),
            (&finding.found).into(),
            finding.fix.clone().unwrap_or_default().into(),
        ]);
    }
    table.print()
}
