//! `[limits]`: storage of rate limit counters, and blocking of callers with many failures.

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;
use crate::secret::SecretString;

pub const SECTION: ConfigSection = ConfigSection {
    name: "limits",
    form: SectionForm::One,
    doc: "Storage of rate limit counters, and blocking of callers with many failures.",
    keys: &[
        ConfigKey::with_default(
            "url",
            ValueKind::Url(&["memory:", "redis://", "rediss://"]),
            "\"memory:\"",
            "The counters of callers without a credential: `memory:` in this process, or \
             `redis://…` (`rediss://…` with TLS) shared by all nodes. Accounts and wallets are \
             always counted exactly, by the node that holds them.",
        ),
        ConfigKey::with_default(
            "block_failures",
            ValueKind::Flag,
            "true",
            "Blocks a caller with more than 20 failed requests in 30 seconds for the next 30 \
             seconds. Disable it to test your own service with invalid input.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitsConfig {
    pub counts: CounterStorage,
    pub block_failures: bool,
}

/// The storage of rate limit counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterStorage {
    Memory,
    /// The whole URL, which may contain a password.
    Redis(SecretString),
}

pub(crate) fn read_limits_config(reader: &TableReader<'_>) -> Option<LimitsConfig> {
    let (url, block_failures) = (reader.url("url"), reader.flag("block_failures"));
    let counts = parse_counter_storage(reader, url?)?;
    Some(LimitsConfig { counts, block_failures: block_failures? })
}

fn parse_counter_storage(reader: &TableReader<'_>, url: String) -> Option<CounterStorage> {
    if !url.starts_with("memory:") {
        return Some(CounterStorage::Redis(SecretString::new(url)));
    }
    if url != "memory:" {
        reader.report_fault("url", "`url` in [limits] must be \"memory:\" alone, or \"redis://…\"");
        return None;
    }
    Some(CounterStorage::Memory)
}
