//! Arguments of `tollgate operator`.

use clap::Subcommand;
use moment::Timestamp;
use uuid::Uuid;

use super::{OutputOptions, parse_description, parse_timestamp};

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Prints a one-time link, valid for one hour, that signs in to the console as the operator.
    Link(OutputOptions),
    /// Creates, lists and revokes keys of type OPERATOR, for the operator's programs.
    #[command(subcommand)]
    Keys(OperatorKeysCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorKeysCommand {
    /// Creates a key and prints its secret, which is shown only once.
    Create {
        /// A description of the key, of at most 64 characters.
        #[arg(long, default_value = "", value_parser = parse_description)]
        description: String,
        /// Expiry time: 2027-01-31 or 2027-01-31T12:00:00Z.
        #[arg(long, value_name = "DATE", value_parser = parse_timestamp)]
        expires: Option<Timestamp>,
        #[command(flatten)]
        listing: OutputOptions,
    },
    /// Lists keys, links and console sessions with operator rights.
    List(OutputOptions),
    /// Revokes a key, or ends a console session, immediately and permanently.
    Revoke {
        /// The id from `operator keys list`.
        id: Uuid,
        #[command(flatten)]
        listing: OutputOptions,
    },
}
