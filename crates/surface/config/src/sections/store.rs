//! `[store]`: the database of accounts, keys and balances.

use std::path::PathBuf;

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::SecretString;

pub const SECTION: ConfigSection = ConfigSection {
    name: "store",
    form: SectionForm::One,
    doc: "The database of accounts, keys and balances.",
    keys: &[
        ConfigKey::with_default(
            "url",
            ValueKind::Url(&["sqlite:", "postgres://", "postgresql://"]),
            "\"sqlite:tollgate.db\"",
            "`sqlite:` and a file, relative to the data directory, or `postgres://…` (15 or \
             later; `sslmode` and `sslrootcert` as options).",
        ),
        ConfigKey::with_default(
            "keep_usage_days",
            ValueKind::Integer { least: 0, most: 36_500 },
            "0",
            "Deletes individual usage rows older than this number of days. 0: never. Balances, the \
             journal and daily totals are always kept.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    pub location: StoreLocation,
    /// None: usage rows are kept forever.
    pub keep_usage_days: Option<i64>,
}

/// The location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreLocation {
    /// A file, relative to the data directory.
    Sqlite(PathBuf),
    /// The whole URL, which may contain a password.
    Postgres(SecretString),
}

pub(crate) fn read_store_config(reader: &TableReader<'_>) -> Option<StoreConfig> {
    let (url, keep_usage_days) = (reader.url("url"), reader.integer("keep_usage_days"));
    let location = parse_store_location(reader, url?)?;
    let keep_usage_days = keep_usage_days.map(|days| (0 < days).then_some(days))?;
    Some(StoreConfig { location, keep_usage_days })
}

fn parse_store_location(reader: &TableReader<'_>, url: String) -> Option<StoreLocation> {
    let Some(file) = url.strip_prefix("sqlite:") else {
        return Some(StoreLocation::Postgres(SecretString::new(url)));
    };
    if file.is_empty() {
        reader.report_fault("url", "`url` in [store] names no file; write \"sqlite:tollgate.db\"");
        return None;
    }
    Some(StoreLocation::Sqlite(PathBuf::from(file)))
}
