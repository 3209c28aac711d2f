//! `tollgate jobs`: queued music and video jobs.

use control::operation::ControlOperation;
use control::reply::{ControlReply, JobLine, JobProgress};

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line};

pub(crate) async fn run_jobs_command(
    operator: &mut OperationClient<'_>,
    command: args::JobsCommand,
) -> Result<(), CommandError> {
    match command {
        args::JobsCommand::List { account, all, listing } => {
            let operation = ControlOperation::ListJobs { account, open_only: !all };
            list_jobs(operator, operation, listing).await
        }
        args::JobsCommand::Show { id, listing } => {
            perform_and_print_job(operator, ControlOperation::ShowJob { id }, listing).await
        }
        args::JobsCommand::Cancel { id, listing } => {
            perform_and_print_job(operator, ControlOperation::CancelJob { id }, listing).await
        }
    }
}

async fn list_jobs(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let ControlReply::Jobs(jobs) = operator.perform(operation).await? else {
        return Err(unexpected_reply_error());
    };
    if listing.json {
        return print_json(&jobs);
    }
    let mut table = TextTable::new(&["ID", "ACCOUNT", "KIND", "MODEL", "STATE", "TRIES", "QUEUED"]);
    for job in &jobs {
        table.push_row([
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

async fn perform_and_print_job(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let ControlReply::Job(job) = operator.perform(operation).await? else {
        return Err(unexpected_reply_error());
    };
    if listing.json { print_json(&job) } else { print_job(&job) }
}

fn print_job(job: &JobLine) -> Result<(), CommandError> {
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
