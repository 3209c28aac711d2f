//! Arguments of `tollgate accounts`.

use clap::{Subcommand, ValueEnum};
use money::Nano;

use super::{OutputOptions, TransferIdArg};

#[derive(Debug, Subcommand)]
pub(crate) enum AccountsCommand {
    /// Creates an account.
    Create {
        name: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Credits an account. For diem and bundled, sets the amount granted per day or month from now
    /// on; 0 ends it.
    Credit {
        name: String,
        /// A decimal amount, such as 10 or 0.50.
        #[arg(value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Nano,
        #[arg(long, default_value = "usd")]
        currency: CurrencyArg,
        #[command(flatten)]
        id: TransferIdArg,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Removes unspent credit that `credit` added.
    Debit {
        name: String,
        /// A decimal amount, such as 10 or 0.50.
        #[arg(value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Nano,
        /// usd or vcu.
        #[arg(long, default_value = "usd")]
        currency: CurrencyArg,
        /// The reason, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        id: TransferIdArg,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Sets the rate limit tier of an account: default, partner, staff or a configured tier.
    Tier {
        name: String,
        tier: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Links a wallet on Base or Solana, which can then spend the account's balance after signing
    /// in.
    Link {
        name: String,
        /// The wallet's address: 0x and 40 hexadecimal digits, or base58.
        wallet: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Unlinks a wallet. API keys that it created stay valid until they are revoked.
    Unlink {
        name: String,
        /// The wallet's address: 0x and 40 hexadecimal digits, or base58.
        wallet: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Blocks sign-in and spending of an account or a wallet. The balance is kept.
    Freeze {
        /// An account name, or the address of a wallet that has paid.
        name: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Reverts `freeze`.
    Unfreeze {
        /// An account name, or the address of a wallet.
        name: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Shows an account and its balances.
    Show {
        name: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Lists all accounts.
    List(OutputOptions),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CurrencyArg {
    Usd,
    Diem,
    Bundled,
    Vcu,
}
