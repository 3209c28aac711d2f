//! Arguments of the commands for the ledger, payments, backups and migrations.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use money::Nano;
use uuid::Uuid;

use super::OutputOptions;

/// The idempotency id of a money transfer.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct TransferIdArg {
    /// The id that an earlier attempt printed. Transfers with the same id are applied once.
    #[arg(long, value_name = "ID")]
    pub(crate) entry_id: Option<Uuid>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Recomputes all balances from the journal. Prints differences and exits with code 1 if there
    /// are any.
    Verify(OutputOptions),
    /// Refunds a charge to its payer, in full or in part. A charge can be refunded once.
    Refund {
        /// The entry id of the charge from `ledger export`.
        charge: Uuid,
        /// The amount to refund in USD. Default: the full charge.
        #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Option<Nano>,
        /// The reason, for the owner's usage list and the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Makes limits and allowances follow the clock again, after journal entries were dated in the
    /// future.
    MendTime {
        /// The reason, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Prints the audit trail: commands that moved money, with their time and user.
    Audit(OutputOptions),
    /// Prints the journal, oldest entry first.
    Export {
        #[arg(long, default_value = "csv")]
        format: ExportFormat,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum PaymentsCommand {
    /// Lists payments, newest first.
    List {
        /// Only payments in this state: verified, submitted, unknown, credited or failed.
        #[arg(long)]
        state: Option<String>,
        /// The maximum number of payments.
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Shows the details of a payment.
    Show {
        /// The payment id: `pay_` and 40 hexadecimal digits.
        id: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Makes the running service check a payment on its chain now, and credit it if it arrived.
    Recheck {
        id: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Closes a stuck payment, or removes the mark of one that is missing on its chain or arrived
    /// after it had failed. Balances do not change.
    WriteOff {
        id: String,
        /// The reason, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: OutputOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Output file; it must not exist.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) listing: OutputOptions,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// A file written by `tollgate backup`.
    pub(crate) file: PathBuf,
    /// Keeps an existing database under another name and replaces it.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Output file; it must not exist. `-` is standard output.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A file written by `tollgate export`. `-` is standard input.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct MigrateArgs {
    /// Only prints the pending migrations.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) listing: OutputOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    /// One JSON object per line.
    Json,
}
