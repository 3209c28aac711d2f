//! `tollgate accounts`: who has a balance.

use control::operation::{CreditCurrency, Operation};
use control::reply::{AccountReport, Balances, Reply};
use domain::entropy::time_ordered_id;
use moment::{Clock, SystemClock};
use money::Nano;

use crate::args::{self, Currency};
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
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
        args::Accounts::Credit { name, amount, currency, listing } => {
            report(operator, credit(name, amount, currency)?, listing).await
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

fn credit(name: String, amount: Nano, currency: Currency) -> Result<Operation, Failure> {
    let is_allowance = matches!(currency, Currency::Diem | Currency::Bundled);
    if amount == Nano::ZERO && !is_allowance {
        return Err(Failure::Usage(
            "a credit of 0 does nothing; write an amount above zero".into(),
        ));
    }
    let entry = time_ordered_id(SystemClock.now(), &SystemEntropy);
    let currency = match currency {
        Currency::Usd => CreditCurrency::Usd,
        Currency::Vcu => CreditCurrency::Vcu,
        Currency::Diem => CreditCurrency::Diem,
        Currency::Bundled => CreditCurrency::Bundled,
    };
    Ok(Operation::CreditAccount { entry, name, amount: amount.to_string(), currency })
}

async fn report(
    operator: &mut Operator<'_>,
    operation: Operation,
    listing: args::Listing,
) -> Result<(), Failure> {
    let reply = operator.perform(operation).await?;
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
