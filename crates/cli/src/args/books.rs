//! Arguments of the commands that look after the books.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use money::Nano;
use uuid::Uuid;

use super::Listing;

/// The id of a movement of money.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct EntryName {
    /// The id that an earlier try printed: the same movement counts once, however often it is sent.
    #[arg(long, value_name = "ID")]
    pub(crate) entry_id: Option<Uuid>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Ledger {
    /// Recomputes every balance from the journal; exit code 1 and the differences if one is wrong.
    Verify(Listing),
    /// Gives a charge back to whoever paid it, whole or in part, once.
    Refund {
        /// The entry of the charge, as `ledger export` shows it.
        charge: Uuid,
        /// How much of it, in USD; otherwise all.
        #[arg(long, value_name = "N", value_parser = Nano::parse, allow_hyphen_values = true)]
        amount: Option<Nano>,
        /// Why, for the owner's usage and the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Has limits and allowances follow the clock again, after the journal was dated ahead of it.
    MendTime {
        /// Why, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Prints which commands moved money, when, and who gave them.
    Audit(Listing),
    /// Prints the journal, oldest first.
    Export {
        #[arg(long, default_value = "csv")]
        format: ExportFormat,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Payments {
    /// Lists payments, the newest first.
    List {
        /// Only those that are verified, submitted, unknown, credited or failed.
        #[arg(long)]
        state: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
        #[command(flatten)]
        listing: Listing,
    },
    /// Shows all that is known of a payment.
    Show {
        /// `pay_` and 40 digits.
        id: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Has the running service ask the payment's chain now, and credit it if its money came.
    Recheck {
        id: String,
        #[command(flatten)]
        listing: Listing,
    },
    /// Gives up a payment that is stuck, or takes note of one whose money is lost or nobody's.
    WriteOff {
        id: String,
        /// Why, for the audit trail.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        listing: Listing,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// Where it goes; nothing may be there yet.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// What `tollgate backup` wrote.
    pub(crate) file: PathBuf,
    /// Where a database is already, keeps it under another name.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// Where it goes; nothing may be there yet. `-` is standard output.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// What `tollgate export` wrote. `-` is standard input.
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct Migrate {
    /// Only shows what would be done.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) listing: Listing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Csv,
    /// One JSON object a line.
    Json,
}
