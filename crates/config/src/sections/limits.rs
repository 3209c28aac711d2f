//! `[limits]`: storage of rate limit counters, and blocking of callers with many failures.

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::Secret;

pub const SECTION: Section = Section {
    name: "limits",
    form: Form::One,
    doc: "Storage of rate limit counters, and blocking of callers with many failures.",
    keys: &[
        Key::with_default(
            "url",
            Kind::Url(&["memory:", "redis://", "rediss://"]),
            "\"memory:\"",
            "The counters of callers without a credential: `memory:` in this process, or \
             `redis://…` (`rediss://…` with TLS) shared by all nodes. Accounts and wallets are \
             always counted exactly, by the node that holds them.",
        ),
        Key::with_default(
            "block_failures",
            Kind::Flag,
            "true",
            "Blocks a caller with more than 20 failed requests in 30 seconds for the next 30 \
             seconds. Disable it to test your own service with invalid input.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    pub counts: Counts,
    pub block_failures: bool,
}

/// The storage of rate limit counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counts {
    Memory,
    /// The whole URL, which may contain a password.
    Redis(Secret),
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Limits> {
    let (url, block_failures) = (reader.url("url"), reader.flag("block_failures"));
    let counts = counts(reader, url?)?;
    Some(Limits { counts, block_failures: block_failures? })
}

fn counts(reader: &Reader<'_>, url: String) -> Option<Counts> {
    if !url.starts_with("memory:") {
        return Some(Counts::Redis(Secret::new(url)));
    }
    if url != "memory:" {
        reader.fault("url", "`url` in [limits] must be \"memory:\" alone, or \"redis://…\"");
        return None;
    }
    Some(Counts::Memory)
}
