//! The commands of accounts and their money.

use clap::{Subcommand, ValueEnum};
use money::Nano;

use super::{EntryName, Listing};

#[derive(Debug, Subcommand)]
pub(crate) enum Accounts {
    /// Makes an account.
    Create {
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Gives an account credit. For diem and bundled the amount is what it gets each day or month
    /// from now on, and 0 ends it.
    Credit {
        name: String,
        /// A plain decimal, such as 10 or 0.50.
        #[arg(value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Nano,
        #[arg(long, default_value = "usd")]
        currency: Currency,
        #[command(flatten)]
        id: EntryName,
        #[command(flatten)]
        listing: Listing,
    },
    /// Takes back credit that `credit` gave, as far as it was not spent.
    Debit {
        name: String,
        /// A plain decimal, such as 10 or 0.50.
        #[arg(value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Nano,
        /// usd or vcu.
        #[arg(long, default_value = "usd")]
        currency: Currency,
        /// Why, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        id: EntryName,
        #[command(flatten)]
        listing: Listing,
    },
    /// Puts an account under another set of rate limits: default, partner or staff.
    Tier {
        name: String,
        tier: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lets a wallet on Base or Solana spend the account's balance when it signs in.
    Link {
        name: String,
        /// 0x and 40 digits, or base58.
        wallet: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Takes from a wallet what `link` gave it. Keys that it made stay until they are revoked.
    Unlink {
        name: String,
        /// 0x and 40 digits, or base58.
        wallet: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lets nobody spend from an account, or a wallet, or come in by it; its money stays.
    Freeze {
        /// An account, or the address of a wallet that has paid.
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Ends what `freeze` began.
    Unfreeze {
        /// An account, or the address of a wallet.
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Shows an account with its balances.
    Show {
        name: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lists all accounts.
    List(Listing),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Currency {
    Usd,
    Diem,
    Bundled,
    Vcu,
}
