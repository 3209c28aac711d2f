//! Types of values: each joins the kind in the reference with the Rust type and its reader.
//!
//! The tables of [`config_section!`](crate::section_table) name one for each key. Constants have no
//! parameters; functions take the bounds or prefixes of the key. A type that only one section needs
//! is a [`KeyType`] beside its table.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use domain::catalogue::NamedVariants;
use money::{Nano, Price, PriceUnits};

use crate::key::ValueKind;
use crate::reader::TableReader;
use crate::secret::SecretString;

/// The prefixes of web addresses.
pub(crate) const HTTP: &[&str] = &["http://", "https://"];

/// The kind of a key's value and the function that reads it as a `T`.
pub(crate) struct KeyType<T> {
    pub(crate) kind: ValueKind,
    /// Reads the value of the named key. Returns `None` for an absent value without a default, and
    /// for an invalid value, whose fault it reports.
    pub(crate) read: fn(&TableReader<'_>, &str) -> Option<T>,
}

pub(crate) const TEXT: KeyType<String> =
    KeyType { kind: ValueKind::Text, read: |reader, name| reader.text(name) };

pub(crate) const TEXTS: KeyType<Vec<String>> =
    KeyType { kind: ValueKind::Texts, read: |reader, name| reader.texts(name) };

pub(crate) const FLAG: KeyType<bool> =
    KeyType { kind: ValueKind::Flag, read: |reader, name| reader.flag(name) };

pub(crate) const PATH: KeyType<PathBuf> =
    KeyType { kind: ValueKind::Path, read: |reader, name| reader.path(name) };

pub(crate) const ADDRESS: KeyType<SocketAddr> =
    KeyType { kind: ValueKind::Address, read: |reader, name| reader.address(name) };

/// An amount of money.
pub(crate) const AMOUNT: KeyType<Nano> =
    KeyType { kind: ValueKind::Decimal, read: |reader, name| reader.decimal(name, Nano::parse) };

/// The price of one unit of work.
pub(crate) const UNIT_PRICE: KeyType<Price> = KeyType {
    kind: ValueKind::Decimal,
    read: |reader, name| reader.decimal(name, |text| Price::parse(text, PriceUnits::One)),
};

pub(crate) const SECRET: KeyType<SecretString> = KeyType {
    kind: ValueKind::Secret,
    read: |reader, name| reader.resolver().resolve_secret(reader, name),
};

/// Secrets by name.
pub(crate) const SECRET_MAP: KeyType<Vec<(String, SecretString)>> = KeyType {
    kind: ValueKind::SecretMap,
    read: |reader, name| Some(reader.resolver().resolve_secret_map(reader, name)),
};

/// A whole number within inclusive bounds, as any integer type.
pub(crate) const fn integer<T: TryFrom<i64>>(least: i64, most: i64) -> KeyType<T> {
    KeyType {
        kind: ValueKind::Integer { least, most },
        read: |reader, name| reader.integer(name).and_then(|it| T::try_from(it).ok()),
    }
}

/// A duration in whole seconds within inclusive bounds.
pub(crate) const fn seconds(least: i64, most: i64) -> KeyType<Duration> {
    KeyType { kind: ValueKind::Seconds { least, most }, read: |reader, name| reader.seconds(name) }
}

/// A URL with one of the prefixes, as written.
pub(crate) const fn url(starts: &'static [&'static str]) -> KeyType<String> {
    KeyType { kind: ValueKind::Url(starts), read: |reader, name| reader.url(name) }
}

/// A web address that paths are appended to: without a slash at its end.
pub(crate) const BASE_URL: KeyType<String> = KeyType {
    kind: ValueKind::Url(HTTP),
    read: |reader, name| reader.url(name).map(|url| url.trim_end_matches('/').to_owned()),
};

/// A web address that may contain an API key.
pub(crate) const SECRET_URL: KeyType<SecretString> = KeyType {
    kind: ValueKind::SecretUrl(HTTP),
    read: |reader, name| reader.resolver().resolve_url(reader, name),
};

/// A list of at least one such address.
pub(crate) const SECRET_URLS: KeyType<Vec<SecretString>> = KeyType {
    kind: ValueKind::SecretUrls(HTTP),
    read: |reader, name| reader.resolver().resolve_urls(reader, name),
};

/// One of the names of an enum.
pub(crate) const fn choice<T: NamedVariants>() -> KeyType<T> {
    KeyType {
        kind: ValueKind::Choice(T::NAMES),
        read: |reader, name| reader.choice(name).and_then(T::parse),
    }
}
