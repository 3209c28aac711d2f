//! `[store]`: the database of accounts, keys and balances.

use std::path::PathBuf;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::Secret;

pub const SECTION: Section = Section {
    name: "store",
    form: Form::One,
    doc: "The database of accounts, keys and balances.",
    keys: &[
        Key::with_default(
            "url",
            Kind::Url(&["sqlite:", "postgres://", "postgresql://"]),
            "\"sqlite:tollgate.db\"",
            "`sqlite:` and a file, relative to the data directory, or `postgres://…` (15 or \
             later; `sslmode` and `sslrootcert` as options).",
        ),
        Key::with_default(
            "keep_usage_days",
            Kind::Integer { least: 0, most: 36_500 },
            "0",
            "Deletes individual usage rows older than this number of days. 0: never. Balances, the \
             journal and daily totals are always kept.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
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
    Postgres(Secret),
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Store> {
    let (url, keep_usage_days) = (reader.url("url"), reader.integer("keep_usage_days"));
    let location = location(reader, url?)?;
    let keep_usage_days = keep_usage_days.map(|days| (0 < days).then_some(days))?;
    Some(Store { location, keep_usage_days })
}

fn location(reader: &Reader<'_>, url: String) -> Option<StoreLocation> {
    let Some(file) = url.strip_prefix("sqlite:") else {
        return Some(StoreLocation::Postgres(Secret::new(url)));
    };
    if file.is_empty() {
        reader.fault("url", "`url` in [store] names no file; write \"sqlite:tollgate.db\"");
        return None;
    }
    Some(StoreLocation::Sqlite(PathBuf::from(file)))
}
