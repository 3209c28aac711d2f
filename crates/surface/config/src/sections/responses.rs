//! `[responses]`: responses and conversations that callers keep here.

use crate::key_type::integer;
use crate::section_table::config_section;

config_section! {
    /// Stored responses and conversations.
    #[section(One, "responses")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ResponsesConfig {
        /// Number of days after which stored responses are deleted, and conversations to which
        /// nothing was added meanwhile.
        keep_days: u64 = integer(1, 3650), default(30);
        /// The maximum number of background responses that this process runs at the same time.
        background_workers: usize = integer(1, 10_000), default(32);
        /// The same for one account. Accounts take turns.
        running_per_account: usize = integer(1, 10_000), default(4);
        /// The maximum number of waiting and running background responses per account. Further
        /// ones are refused.
        open_per_account: usize = integer(1, 100_000), default(100);
    }
}
