//! `tollgate payments`: wallet payments and their states.

use control::operation::ControlOperation;
use control::reply::{ControlReply, PaymentReport};

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{DOUBTFUL, TableCell, TextTable, print_json, print_line};

pub(crate) async fn run_payments_command(
    operator: &mut OperationClient<'_>,
    command: args::PaymentsCommand,
) -> Result<(), CommandError> {
    match command {
        args::PaymentsCommand::List { state, limit, listing } => {
            list_payments(operator, ControlOperation::ListPayments { state, limit }, listing).await
        }
        args::PaymentsCommand::Show { id, listing } => {
            perform_and_report(operator, ControlOperation::ShowPayment { id }, listing).await
        }
        args::PaymentsCommand::Recheck { id, listing } => {
            let operation = ControlOperation::RecheckPayment { id };
            let reply = operator.perform_running(operation).await?;
            print_reply(reply, listing)
        }
        args::PaymentsCommand::WriteOff { id, reason, listing } => {
            perform_and_report(operator, ControlOperation::WriteOffPayment { id, reason }, listing)
                .await
        }
    }
}

async fn list_payments(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let ControlReply::Payments(payments) = operator.perform(operation).await? else {
        return Err(unexpected_reply_error());
    };
    if listing.json {
        return print_json(&payments);
    }
    let mut table =
        TextTable::new(&["ID", "STATE", "USD", "NETWORK", "PAYER", "CREATED", "TROUBLE"]);
    for payment in &payments {
        table.push_row([
            (&payment.id).into(),
            (&payment.state).into(),
            (&payment.amount_usd).into(),
            (&payment.network).into(),
            (&payment.payer).into(),
            (&payment.created_at).into(),
            TableCell::with_style(payment.trouble.as_deref().unwrap_or_default(), DOUBTFUL),
        ]);
    }
    table.print()
}

async fn perform_and_report(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let reply = operator.perform(operation).await?;
    print_reply(reply, listing)
}

fn print_reply(reply: ControlReply, listing: args::OutputOptions) -> Result<(), CommandError> {
    let ControlReply::Payment(payment) = reply else { return Err(unexpected_reply_error()) };
    if listing.json { print_json(&payment) } else { print_payment(&payment) }
}

fn print_payment(payment: &PaymentReport) -> Result<(), CommandError> {
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
