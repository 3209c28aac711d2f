//! `[store]`: the database of accounts, keys and balances.

use std::path::PathBuf;

use crate::key_type::{integer, url};
use crate::secret::SecretString;
use crate::section_table::{config_section, none_if_zero};

config_section! {
    /// The database of accounts, keys and balances.
    #[section(One, "store")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct StoreConfig {
        /// `sqlite:` and a file, relative to the data directory, or `postgres://…` (15 or
        /// later; `sslmode` and `sslrootcert` as options).
        "url" => location: StoreLocation = url(&["sqlite:", "postgres://", "postgresql://"]),
            default("sqlite:tollgate.db"), parse(parse_store_location);
        /// Deletes individual usage rows older than this number of days. 0: never. Balances, the
        /// journal and daily totals are always kept.
        keep_usage_days: Option<i64> = integer(0, 36_500), default(0), parse(none_if_zero);
    }
}

/// The location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// A file, relative to the data directory.
    Sqlite(PathBuf),
    /// The whole URL, which may contain a password.
    Postgres(SecretString),
}

fn parse_store_location(url: String) -> Result<StoreLocation, String> {
    match url.strip_prefix("sqlite:") {
        Some("") => Err("names no file; write \"sqlite:tollgate.db\"".to_owned()),
        Some(file) => Ok(StoreLocation::Sqlite(PathBuf::from(file))),
        None => Ok(StoreLocation::Postgres(SecretString::new(url))),
    }
}
