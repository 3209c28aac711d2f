//! `tollgate ledger`: verifies and exports the journal, and refunds charges.

use control::operation::{self, Operation};
use control::reply::{JournalPage, Reply, Verification};
use ledger::CSV_HEADER;

use crate::args::{self, ExportFormat};
use crate::failure::Failure;
use crate::operator::{Operator, quoted, unexpected};
use crate::output::{Listing, print, print_json, print_line};

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: &args::Ledger,
) -> Result<(), Failure> {
    match command {
        args::Ledger::Verify(listing) => verify(operator, *listing).await,
        args::Ledger::Export { format } => export(operator, *format).await,
        args::Ledger::Refund { charge, amount, reason, listing } => {
            let (charge, reason) = (*charge, reason.clone());
            let amount = amount.map(|amount| amount.to_string());
            let part = amount.as_ref().map(|amount| format!(" --amount {amount}"));
            let part = part.unwrap_or_default();
            let again =
                format!("tollgate ledger refund {charge}{part} --reason {}", quoted(&reason));
            let is_repeat = false;
            let operation = Operation::RefundCharge { charge, amount, reason, is_repeat };
            refund(operator, operation, &again, *listing).await
        }
        args::Ledger::MendTime { reason, listing } => {
            let operation = Operation::MendTime { reason: reason.clone() };
            let Reply::TimeMended(mended) = operator.perform(operation).await? else {
                return Err(unexpected());
            };
            if listing.json {
                return print_json(&mended);
            }
            let (from, to) = (mended.from, mended.to);
            print_line(&format!("the books were dated {from} and follow the clock from {to} on"))
        }
        args::Ledger::Audit(listing) => audit(operator, *listing).await,
    }
}

async fn refund(
    operator: &mut Operator<'_>,
    operation: Operation,
    again: &str,
    listing: args::Listing,
) -> Result<(), Failure> {
    let Reply::Refunded(refund) = operator.move_money(operation, again).await? else {
        return Err(unexpected());
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

/// Reads the audit log page by page and prints it as one table, because it is short.
async fn audit(operator: &mut Operator<'_>, listing: args::Listing) -> Result<(), Failure> {
    let (mut lines, mut after_seq) = (Vec::new(), 0);
    loop {
        let reply = operator.perform(Operation::AuditLedger { after_seq }).await?;
        let Reply::Audit(page) = reply else { return Err(unexpected()) };
        lines.extend(page.rows);
        let Some(next) = page.next_seq else { break };
        after_seq = next;
    }
    if listing.json {
        return print_json(&lines);
    }
    let mut table = Listing::new(&["TIME", "BY", "COMMAND", "SUBJECT", "DETAIL"]);
    for line in &lines {
        table.row([
            (&line.at).into(),
            (&line.by).into(),
            (&line.action).into(),
            (&line.subject).into(),
            (&line.detail).into(),
        ]);
    }
    table.print()
}

async fn verify(operator: &mut Operator<'_>, listing: args::Listing) -> Result<(), Failure> {
    let verification = operator.verify().await?;
    if listing.json {
        print_json(&verification)?;
    } else {
        print_verification(&verification)?;
    }
    if verification.differences.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

fn print_verification(verification: &Verification) -> Result<(), Failure> {
    let Verification { transfers, differences, differences_total, undigested_usage_rows } =
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
async fn export(operator: &mut Operator<'_>, format: ExportFormat) -> Result<(), Failure> {
    let format = match format {
        ExportFormat::Csv => operation::ExportFormat::Csv,
        ExportFormat::Json => operation::ExportFormat::Json,
    };
    if format == operation::ExportFormat::Csv {
        print_line(CSV_HEADER)?;
    }
    let mut after_seq = 0;
    loop {
        let reply = operator.perform(Operation::ExportLedger { after_seq, format }).await?;
        let Reply::Journal(JournalPage { lines, next_seq }) = reply else {
            return Err(unexpected());
        };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        print(&text)?;
        let Some(next) = next_seq else { return Ok(()) };
        after_seq = next;
    }
}
