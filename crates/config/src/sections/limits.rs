//! `[limits]`: storage of rate limit counters, and blocking of callers with many failures.

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;
use crate::secret::Secret;

pub const SECTION: Section = Section {
    name: "limits",
    form: Form::One,
    doc: "Where rate limits are counted, and who is blocked for failing too often.",
    keys: &[
        Key::with_default(
            "url",
            Kind::Url(&["memory:", "redis://", "rediss://"]),
            "\"memory:\"",
            "Where callers without a credential are counted: `memory:` in this process, `redis://…` \
             (`rediss://…` with TLS) together with other nodes. Accounts and wallets are counted at \
             home, exactly, in any case.",
        ),
        Key::with_default(
            "block_failures",
            Kind::Flag,
            "true",
            "Whether a caller with more than 20 failed requests in 30 seconds is blocked for the \
             next 30. Switch it off to test a service of your own with bad input.",
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
