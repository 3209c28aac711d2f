//! `tollgate payments`: wallet payments and their states.

use control::operation::Operation;
use control::reply::{PaymentReport, Reply};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Cell, DOUBTFUL, Listing, print_json, print_line};

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: args::Payments,
) -> Result<(), Failure> {
    match command {
        args::Payments::List { state, limit, listing } => {
            list(operator, Operation::ListPayments { state, limit }, listing).await
        }
        args::Payments::Show { id, listing } => {
            report(operator, Operation::ShowPayment { id }, listing).await
        }
        args::Payments::Recheck { id, listing } => {
            let operation = Operation::RecheckPayment { id };
            let reply = operator.perform_running(operation).await?;
            print_reply(reply, listing)
        }
        args::Payments::WriteOff { id, reason, listing } => {
            report(operator, Operation::WriteOffPayment { id, reason }, listing).await
        }
    }
}

async fn list(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    let Reply::Payments(payments) = operator.perform(operation).await? else {
        return Err(unexpected());
    };
    if listing.json {
        return print_json(&payments);
    }
    let mut table = Listing::new(&["ID", "STATE", "USD", "NETWORK", "PAYER", "CREATED", "TROUBLE"]);
    for payment in &payments {
        table.row([
            (&payment.id).into(),
            (&payment.state).into(),
            (&payment.amount_usd).into(),
            (&payment.network).into(),
            (&payment.payer).into(),
            (&payment.created_at).into(),
            Cell::styled(payment.trouble.as_deref().unwrap_or_default(), DOUBTFUL),
        ]);
    }
    table.print()
}

async fn report(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    let reply = operator.perform(operation).await?;
    print_reply(reply, listing)
}

fn print_reply(reply: Reply, listing: args::Listing) -> Result<(), Failure> {
    let Reply::Payment(payment) = reply else { return Err(unexpected()) };
    if listing.json { print_json(&payment) } else { print_payment(&payment) }
}

fn print_payment(payment: &PaymentReport) -> Result<(), Failure> {
    let line = &payment.line;
    print_line(&format!("{} {}", line.id, line.state))?;
    let replaced = payment.replaced.join(", ");
    let entry = payment.entry.map(|entry| entry.to_string());
    let rows = [
        ("amount", Some(format!("{} USD", line.amount_usd))),
        ("network", Some(line.network.clone())),
        ("payer", Some(line.payer.clone())),
        ("paid to", Some(payment.pay_to.clone())),
        ("token", Some(payment.asset.clone())),
        ("created", Some(line.created_at.clone())),
        ("changed", Some(line.changed_at.clone())),
        ("sent", payment.sent_at.clone()),
        ("transaction", payment.transaction.clone()),
        ("replaced", Some(replaced).filter(|names| !names.is_empty())),
        ("credited", payment.credited_usd.as_ref().map(|amount| format!("{amount} USD"))),
        ("entry", entry),
        ("reason", payment.reason.clone()),
        ("trouble", line.trouble.clone()),
        ("found", payment.found.clone()),
    ];
    for (name, value) in rows {
        if let Some(value) = value {
            print_line(&format!("  {name:<12}{value}"))?;
        }
    }
    Ok(())
}
