//! The command line of the operator's own credentials.

use clap::Subcommand;
use moment::Timestamp;
use uuid::Uuid;

use super::{Listing, description, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Prints a link that signs in to the console once, within the hour, as the operator.
    Link(Listing),
    /// Makes, lists and revokes keys of type OPERATOR, for the operator's own programs.
    #[command(subcommand)]
    Keys(OperatorKeys),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorKeys {
    /// Makes a key and prints its secret, once.
    Create {
        /// What the key is for, at most 64 characters.
        #[arg(long, default_value = "", value_parser = description)]
        description: String,
        /// When it stops working: 2027-01-31 or 2027-01-31T12:00:00Z.
        #[arg(long, value_name = "DATE", value_parser = moment)]
        expires: Option<Timestamp>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lists keys, links and console sessions with the operator's rights.
    List(Listing),
    /// Revokes a key, or ends a console session, at once and for good.
    Revoke {
        /// The id that `operator keys list` shows.
        id: Uuid,
        #[command(flatten)]
        listing: Listing,
    },
}
