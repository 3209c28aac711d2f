//! `tollgate jobs`: queued music and video jobs.

use control::operation::Operation;
use control::reply::{JobLine, JobProgress, Reply};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Listing, print_json, print_line};

pub(crate) async fn run(operator: &mut Operator<'_>, command: args::Jobs) -> Result<(), Failure> {
    match command {
        args::Jobs::List { account, all, listing } => {
            let operation = Operation::ListJobs { account, open_only: !all };
            list(operator, operation, listing).await
        }
        args::Jobs::Show { id, listing } => one(operator, Operation::ShowJob { id }, listing).await,
        args::Jobs::Cancel { id, listing } => {
            one(operator, Operation::CancelJob { id }, listing).await
        }
    }
}

async fn list(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    let Reply::Jobs(jobs) = operator.perform(operation).await? else { return Err(unexpected()) };
    if listing.json {
        return print_json(&jobs);
    }
    let mut table = Listing::new(&["ID", "ACCOUNT", "KIND", "MODEL", "STATE", "TRIES", "QUEUED"]);
    for job in &jobs {
        table.row([
            job.id.into(),
            (&job.account).into(),
            (&job.kind).into(),
            (&job.model).into(),
            (&job.state).into(),
            job.attempts.into(),
            (&job.queued_at).into(),
        ]);
    }
    table.print()
}

async fn one(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    let Reply::Job(job) = operator.perform(operation).await? else { return Err(unexpected()) };
    if listing.json { print_json(&job) } else { print_job(&job) }
}

fn print_job(job: &JobLine) -> Result<(), Failure> {
    let told = |at: &Option<String>| at.clone().unwrap_or_else(|| "-".to_owned());
    print_line(&format!("{} ({} by {})", job.id, job.kind, job.model))?;
    print_line(&format!("  account    {}", job.account))?;
    let cancelled = if job.wants_cancel { ", to be cancelled" } else { "" };
    print_line(&format!("  state      {}{cancelled}", job.state))?;
    if let Some(progress) = job.progress {
        print_line(&format!("  progress   {}", progress_words(progress)))?;
    }
    print_line(&format!("  tries      {}", job.attempts))?;
    print_line(&format!("  queued     {}", job.queued_at))?;
    print_line(&format!("  started    {}", told(&job.started_at)))?;
    print_line(&format!("  submitted  {}", told(&job.submitted_at)))?;
    print_line(&format!("  done       {}", told(&job.done_at)))?;
    print_line(&format!("  ticket     {}", told(&job.ticket)))?;
    print_line(&format!("  failure    {}", told(&job.failure)))
}

fn progress_words(progress: JobProgress) -> String {
    let percent = progress.percent.map(|percent| format!("{percent} %"));
    let ahead = progress.ahead.map(|ahead| match ahead {
        0 => "at work".to_owned(),
        _ => format!("{ahead} ahead of it at the provider"),
    });
    [percent, ahead].into_iter().flatten().collect::<Vec<String>>().join(", ")
}
