//! `tollgate accounts`: accounts and their balances.

use clap::ValueEnum;
use control::operation::{CreditCurrency, Operation};
use control::reply::{AccountReport, Balances, Reply};
use domain::entropy::time_ordered_id;
use moment::{Clock, SystemClock};
use money::Nano;
use uuid::Uuid;

use crate::args::{self, Currency, EntryName};
use crate::failure::Failure;
use crate::operator::{Operator, quoted, unexpected};
use crate::output::{Listing, print_json, print_line};
use crate::randomness::SystemEntropy;

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: args::Accounts,
) -> Result<(), Failure> {
    match command {
        args::Accounts::Create { name, listing } => {
            report(operator, Operation::CreateAccount { name }, listing).await
        }
        args::Accounts::Credit { name, amount, currency, id, listing } => {
            let is_allowance = matches!(currency, Currency::Diem | Currency::Bundled);
            check_amount("credit", amount, is_allowance)?;
            let (entry, again) = (entry(id), format!("accounts credit {name} {amount}"));
            let again = again_with(&again, currency, entry);
            let (amount, currency) = (amount.to_string(), credit_currency(currency));
            let credit = Operation::CreditAccount { entry, name, amount, currency };
            let reply = operator.move_money(credit, &again).await?;
            print_report(reply, listing)
        }
        args::Accounts::Debit { name, amount, currency, reason, id, listing } => {
            check_amount("debit", amount, false)?;
            let entry = entry(id);
            let again = format!("accounts debit {name} {amount} --reason {}", quoted(&reason));
            let again = again_with(&again, currency, entry);
            let (amount, currency) = (amount.to_string(), credit_currency(currency));
            let debit = Operation::DebitAccount { entry, name, amount, currency, reason };
            let reply = operator.move_money(debit, &again).await?;
            print_report(reply, listing)
        }
        args::Accounts::Tier { name, tier, listing } => {
            report(operator, Operation::SetTier { name, tier }, listing).await
        }
        args::Accounts::Link { name, wallet, listing } => {
            report(operator, Operation::LinkWallet { name, wallet }, listing).await
        }
        args::Accounts::Unlink { name, wallet, listing } => {
            report(operator, Operation::UnlinkWallet { name, wallet }, listing).await
        }
        args::Accounts::Freeze { name, listing } => {
            report(operator, Operation::FreezeAccount { name }, listing).await
        }
        args::Accounts::Unfreeze { name, listing } => {
            report(operator, Operation::UnfreezeAccount { name }, listing).await
        }
        args::Accounts::Show { name, listing } => {
            report(operator, Operation::ShowAccount { name }, listing).await
        }
        args::Accounts::List(listing) => list(operator, listing).await,
    }
}

fn check_amount(what: &str, amount: Nano, may_be_zero: bool) -> Result<(), Failure> {
    if amount == Nano::ZERO && !may_be_zero {
        let message = format!("a {what} of 0 does nothing; write an amount above zero");
        return Err(Failure::Usage(message));
    }
    Ok(())
}

/// Returns the given id of a transfer, or a new one.
fn entry(id: EntryName) -> Uuid {
    id.entry_id.unwrap_or_else(|| time_ordered_id(SystemClock.now(), &SystemEntropy))
}

/// Returns the command that repeats a transfer with the same id.
fn again_with(command: &str, currency: Currency, entry: Uuid) -> String {
    let currency = currency.to_possible_value();
    let currency = currency.as_ref().map_or("usd", |value| value.get_name());
    format!("tollgate {command} --currency {currency} --entry-id {entry}")
}

fn credit_currency(currency: Currency) -> CreditCurrency {
    match currency {
        Currency::Usd => CreditCurrency::Usd,
        Currency::Vcu => CreditCurrency::Vcu,
        Currency::Diem => CreditCurrency::Diem,
        Currency::Bundled => CreditCurrency::Bundled,
    }
}

async fn report(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    print_report(operator.perform(operation).await?, listing)
}

fn print_report(reply: Reply, listing: args::Listing) -> Result<(), Failure> {
    let Reply::Account(account) = reply else { return Err(unexpected()) };
    if listing.json { print_json(&account) } else { print_account(&account) }
}

fn print_account(account: &AccountReport) -> Result<(), Failure> {
    let AccountReport { line, allowances, keys } = account;
    print_line(&format!("{} ({})", line.name, line.id))?;
    print_line(&format!("  balances    {}", balances(&line.balances)))?;
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

fn balances(balances: &Balances) -> String {
    let shown: Vec<String> =
        balances.iter().map(|(currency, amount)| format!("{amount} {currency}")).collect();
    shown.join(", ")
}

async fn list(operator: &mut Operator<'_>, listing: args::Listing) -> Result<(), Failure> {
    let reply = operator.perform(Operation::ListAccounts).await?;
    let Reply::Accounts(accounts) = reply else { return Err(unexpected()) };
    if listing.json {
        return print_json(&accounts);
    }
    let mut table = Listing::new(&["NAME", "BALANCES", "TIER", "CREATED", "ID"]);
    for account in &accounts {
        table.row([
            (&account.name).into(),
            balances(&account.balances).into(),
            (&account.tier).into(),
            (&account.created_at).into(),
            account.id.into(),
        ]);
    }
    table.print()
}
