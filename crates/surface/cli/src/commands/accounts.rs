//! `tollgate accounts`: accounts and their balances.

use clap::ValueEnum;
use control::operation::{ControlOperation, CreditCurrency};
use control::reply::{AccountReport, BalanceTexts, ControlReply};
use domain::entropy::time_ordered_id;
use moment::{Clock, SystemClock};
use money::Nano;
use uuid::Uuid;

use crate::args::{self, CurrencyArg, TransferIdArg};
use crate::failure::CommandError;
use crate::operator::{OperationClient, quote_for_shell, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line};
use crate::randomness::SystemEntropy;

pub(crate) async fn run_accounts_command(
    operator: &mut OperationClient<'_>,
    command: args::AccountsCommand,
) -> Result<(), CommandError> {
    match command {
        args::AccountsCommand::Create { name, listing } => {
            perform_and_report(operator, ControlOperation::CreateAccount { name }, listing).await
        }
        args::AccountsCommand::Credit { name, amount, currency, id, listing } => {
            let is_allowance = matches!(currency, CurrencyArg::Diem | CurrencyArg::Bundled);
            check_amount("credit", amount, is_allowance)?;
            let (entry, again) = (resolve_entry_id(id), format!("accounts credit {name} {amount}"));
            let again = again_with(&again, currency, entry);
            let (amount, currency) = (amount.to_string(), credit_currency(currency));
            let credit = ControlOperation::CreditAccount { entry, name, amount, currency };
            let reply = operator.move_money(credit, &again).await?;
            print_report(reply, listing)
        }
        args::AccountsCommand::Debit { name, amount, currency, reason, id, listing } => {
            check_amount("debit", amount, false)?;
            let entry = resolve_entry_id(id);
            let again =
                format!("accounts debit {name} {amount} --reason {}", quote_for_shell(&reason));
            let again = again_with(&again, currency, entry);
            let (amount, currency) = (amount.to_string(), credit_currency(currency));
            let debit = ControlOperation::DebitAccount { entry, name, amount, currency, reason };
            let reply = operator.move_money(debit, &again).await?;
            print_report(reply, listing)
        }
        args::AccountsCommand::Tier { name, tier, listing } => {
            perform_and_report(operator, ControlOperation::SetTier { name, tier }, listing).await
        }
        args::AccountsCommand::Link { name, wallet, listing } => {
            perform_and_report(operator, ControlOperation::LinkWallet { name, wallet }, listing)
                .await
        }
        args::AccountsCommand::Unlink { name, wallet, listing } => {
            perform_and_report(operator, ControlOperation::UnlinkWallet { name, wallet }, listing)
                .await
        }
        args::AccountsCommand::Freeze { name, listing } => {
            perform_and_report(operator, ControlOperation::FreezeAccount { name }, listing).await
        }
        args::AccountsCommand::Unfreeze { name, listing } => {
            perform_and_report(operator, ControlOperation::UnfreezeAccount { name }, listing).await
        }
        args::AccountsCommand::Show { name, listing } => {
            perform_and_report(operator, ControlOperation::ShowAccount { name }, listing).await
        }
        args::AccountsCommand::List(listing) => list_accounts(operator, listing).await,
    }
}

fn check_amount(what: &str, amount: Nano, may_be_zero: bool) -> Result<(), CommandError> {
    if amount == Nano::ZERO && !may_be_zero {
        let message = format!("a {what} of 0 has no effect; use an amount above zero");
        return Err(CommandError::Usage(message));
    }
    Ok(())
}

/// Returns the given id of a transfer, or a new one.
fn resolve_entry_id(id: TransferIdArg) -> Uuid {
    id.entry_id.unwrap_or_else(|| time_ordered_id(SystemClock.now(), &SystemEntropy))
}

/// Returns the command that repeats a transfer with the same id.
fn again_with(command: &str, currency: CurrencyArg, entry: Uuid) -> String {
    let currency = currency.to_possible_value();
    let currency = currency.as_ref().map_or("usd", |value| value.get_name());
    format!("tollgate {command} --currency {currency} --entry-id {entry}")
}

fn credit_currency(currency: CurrencyArg) -> CreditCurrency {
    match currency {
        CurrencyArg::Usd => CreditCurrency::Usd,
        CurrencyArg::Vcu => CreditCurrency::Vcu,
        CurrencyArg::Diem => CreditCurrency::Diem,
        CurrencyArg::Bundled => CreditCurrency::Bundled,
    }
}

async fn perform_and_report(
    operator: &mut OperationClient<'_>,
    operation: ControlOperation,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    print_report(operator.perform(operation).await?, listing)
}

fn print_report(reply: ControlReply, listing: args::OutputOptions) -> Result<(), CommandError> {
    let ControlReply::Account(account) = reply else { return Err(unexpected_reply_error()) };
    if listing.json { print_json(&account) } else { print_account(&account) }
}

fn print_account(account: &AccountReport) -> Result<(), CommandError> {
    let AccountReport { line, allowances, keys } = account;
    print_line(&format!("{} ({})", line.name, line.id))?;
    print_line(&format!("  balances    {}", format_balances(&line.balances)))?;
    print_line(&format!(
        "  allowances  {} DIEM a day, {} bundled credits a month",
        allowances.diem_per_day, allowances.bundled_per_month
    ))?;
    print_line(&format!("  keys        {keys}"))?;
    print_line(&format!("  tier        {}", line.tier))?;
    print_line(&format!("  created     {}", line.created_at))?;
    match &line.frozen_at {
        Some(since) => print_line(&format!("  frozen      since {since}")),
        None => Ok(()),
    }
}

fn format_balances(balances: &BalanceTexts) -> String {
    let shown: Vec<String> =
        balances.iter().map(|(currency, amount)| format!("{amount} {currency}")).collect();
    shown.join(", ")
}

async fn list_accounts(
    operator: &mut OperationClient<'_>,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let reply = operator.perform(ControlOperation::ListAccounts).await?;
    let ControlReply::Accounts(accounts) = reply else { return Err(unexpected_reply_error()) };
    if listing.json {
        return print_json(&accounts);
    }
    let mut table = TextTable::new(&["NAME", "BALANCES", "TIER", "CREATED", "ID"]);
    for account in &accounts {
        table.push_row([
            (&account.name).into(),
            format_balances(&account.balances).into(),
            (&account.tier).into(),
            (&account.created_at).into(),
            account.id.into(),
        ]);
    }
    table.print()
}
