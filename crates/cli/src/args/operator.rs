//! Arguments of `tollgate operator`.

use clap::Subcommand;
use moment::Timestamp;
use uuid::Uuid;

use super::{Listing, description, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Prints a one-time link, valid for one hour, that signs in to the console as the operator.
    Link(Listing),
    /// Creates, lists and revokes keys of type OPERATOR, for the operator's programs.
    #[command(subcommand)]
    Keys(OperatorKeys),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorKeys {
    /// Creates a key and prints its secret, which is shown only once.
    Create {
        /// A description of the key, of at most 64 characters.
        #[arg(long, default_value = "", value_parser = description)]
        description: String,
        /// Expiry time: 2027-01-31 or 2027-01-31T12:00:00Z.
        #[arg(long, value_name = "DATE", value_parser = moment)]
        expires: Option<Timestamp>,
        #[command(flatten)]
        listing: Listing,
    },
    /// Lists keys, links and console sessions with operator rights.
    List(Listing),
    /// Revokes a key, or ends a console session, immediately and permanently.
    Revoke {
        /// The id from `operator keys list`.
        id: Uuid,
        #[command(flatten)]
        listing: Listing,
    },
}
