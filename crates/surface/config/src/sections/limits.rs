//! `[limits]`: storage of rate limit counters, and blocking of callers with many failures.

use crate::key_type::{FLAG, url};
use crate::secret::SecretString;
use crate::section_table::config_section;

config_section! {
    /// Storage of rate limit counters, and blocking of callers with many failures.
    #[section(One, "limits")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LimitsConfig {
        /// The counters of callers without a credential: `memory:` in this process, or
        /// `redis://…` (`rediss://…` with TLS) shared by all nodes. Accounts and wallets are
        /// always counted exactly, by the node that holds them.
        "url" => counts: CounterStorage = url(&["memory:", "redis://", "rediss://"]),
            default("memory:"), parse(parse_counter_storage);
        /// Blocks a caller with more than 20 failed requests in 30 seconds for the next 30
        /// seconds. Disable it to test your own service with invalid input.
        block_failures: bool = FLAG, default(true);
    }
}

/// The storage of rate limit counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CounterStorage {
    Memory,
    /// The whole URL, which may contain a password.
    Redis(SecretString),
}

fn parse_counter_storage(url: String) -> Result<CounterStorage, String> {
    match url.strip_prefix("memory:") {
        Some("") => Ok(CounterStorage::Memory),
        Some(_) => Err("must be \"memory:\" alone, or \"redis://…\"".to_owned()),
        None => Ok(CounterStorage::Redis(SecretString::new(url))),
    }
}
