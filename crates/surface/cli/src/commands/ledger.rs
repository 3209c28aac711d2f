//! `tollgate ledger`: verifies and exports the journal, and refunds charges.

use control::operation::{self, ControlOperation};
use control::reply::{ControlReply, JournalPage, LedgerVerification};
use ledger::CSV_HEADER;

use crate::args::{self, ExportFormat};
use crate::failure::CommandError;
use crate::operator::{OperationClient, quote_for_shell, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line, print_text};

pub(crate) async fn run_ledger_command(
    operator: &mut OperationClient<'_>,
    command: &args::LedgerCommand,
) -> Result<(), CommandError> {
    match command {
        args::LedgerCommand::Verify(listing) => verify_ledger(operator, *listing).await,
        args::LedgerCommand::Export { format } => export_journal(operator, *format).await,
        args::LedgerCommand::Refund { charge, amount, reason, listing } => {
            let (charge, reason) = (*charge, reason.clone());
            let amount = amount.map(|amount| amount.to_string());
            let part = amount.as_ref().map(|amount| format!(" --amount {amount}"));
            let part = part.unwrap_or_default();
            let again = format!(
                "tollgate ledger refund {charge}{part} --reason {}",
                quote_for_shell(&reason)
            );
            let is_repeat = false;
            let operation = ControlOperation::RefundCharge { charge, amount, reason, is_repeat };
            refund_charge(operator, operation, &again, *listing).await
        }
        args::LedgerCommand::MendTime { reason, listing } => {
            let operation = ControlOperation::MendTime { reason: reason.clone() };
            let ControlReply::TimeMended(mended) = operator.perform(operation).await? else {
                return Err(unexpected_reply_error());
            };
            if listing.json {
                return print_json(&mended);
            }
            let (from, to) = (mended.from, mended.to);
            print_line(&format!("the ledger was dated {from} and follows the clock from {to} on"))
        }
        args::LedgerCommand::Audit(listing) => print_audit_log(operator, *listing).await,
    }
}

async fn refund_charge(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    again: &str,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let ControlReply::Refunded(refund) = operator.move_money(operation, again).await? else {
        return Err(unexpected_reply_error());
    };
    if listing.json {
        return print_json(&refund);
    }
    for (words, sums) in [("given back", &refund.returned), ("had expired", &refund.lapsed)] {
        for (currency, amount) in sums {
            print_line(&format!("{amount} {currency} {words}"))?;
        }
    }
    print_line(&format!("entry {}", refund.refund))
}

/// Reads the audit trail page by page and prints it as one table, because it is short.
async fn print_audit_log(
    operator: &mut OperationClient<'_>,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let (mut lines, mut after_seq) = (Vec::new(), 0);
    loop {
        let reply = operator.perform(ControlOperation::AuditLedger { after_seq }).await?;
        let ControlReply::Audit(page) = reply else { return Err(unexpected_reply_error()) };
        lines.extend(page.rows);
        let Some(next) = page.next_seq else { break };
        after_seq = next;
    }
    if listing.json {
        return print_json(&lines);
    }
    let mut table = TextTable::new(&["TIME", "BY", "COMMAND", "SUBJECT", "DETAIL"]);
    for line in &lines {
        table.push_row([
            (&line.at).into(),
            (&line.by).into(),
            (&line.action).into(),
            (&line.subject).into(),
            (&line.detail).into(),
        ]);
    }
    table.print()
}

async fn verify_ledger(
    operator: &mut OperationClient<'_>,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let verification = operator.verify_ledger().await?;
    if listing.json {
        print_json(&verification)?;
    } else {
        print_verification(&verification)?;
    }
    if verification.differences.is_empty() { Ok(()) } else { Err(CommandError::Reported) }
}

fn print_verification(verification: &LedgerVerification) -> Result<(), CommandError> {
    let LedgerVerification { transfers, differences, differences_total, undigested_usage_rows } =
        verification;
    for difference in differences {
        print_line(difference)?;
    }
    let verdict = match *differences_total {
        0 => "every balance is right".to_owned(),
        1 => "1 difference".to_owned(),
        count if differences.len() as u64 == count => format!("{count} differences"),
        count => format!("{count} differences, the first {} of which are above", differences.len()),
    };
    print_line(&format!("{transfers} transfers: {verdict}"))?;
    match undigested_usage_rows {
        0 => Ok(()),
        rows => print_line(&format!(
            "not covered: {rows} usage rows of earlier releases have no digest, so a changed \
             request id in them is not found"
        )),
    }
}

/// Prints page by page, so that memory use does not grow with the journal.
async fn export_journal(
    operator: &mut OperationClient<'_>,
    format: ExportFormat,
) -> Result<(), CommandError> {
    let format = match format {
        ExportFormat::Csv => operation::ExportFormat::Csv,
        ExportFormat::Json => operation::ExportFormat::Json,
    };
    if format == operation::ExportFormat::Csv {
        print_line(CSV_HEADER)?;
    }
    let mut after_seq = 0;
    loop {
        let reply = operator.perform(ControlOperation::ExportLedger { after_seq, format }).await?;
        let ControlReply::Journal(JournalPage { lines, next_seq }) = reply else {
            return Err(unexpected_reply_error());
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        print_text(&text)?;
        let Some(next) = next_seq else { return Ok(()) };
        after_seq = next;
    }
}
