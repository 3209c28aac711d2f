//! `[queue]`: music and videos, which are generated asynchronously.

use std::time::Duration;

use crate::key_type::{KeyType, integer, seconds};
use crate::section_table::config_section;

const DAY_S: i64 = 86_400;
const JOBS: KeyType<usize> = integer(1, 100_000);
const TIME: KeyType<Duration> = seconds(1, DAY_S);

config_section! {
    /// Queued generation of music and videos.
    #[section(One, "queue")]
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct QueueConfig {
        /// The maximum number of running jobs.
        workers: usize = JOBS, default(8);
        /// The maximum number of running jobs per account. Accounts take turns.
        running_per_account: usize = JOBS, default(2);
        /// The maximum number of waiting and running jobs per account. Further ones are refused.
        open_per_account: usize = JOBS, default(100);
        /// Time after which an unretrieved result is deleted.
        "keep_media_s" => keep_media: Duration = seconds(60, 90 * DAY_S), default(86400);
        /// The execution time of music reported to callers until 20 jobs of the model were
        /// measured.
        "music_time_s" => music_time: Duration = TIME, default(60);
        /// The same as `music_time_s`, for videos.
        "video_time_s" => video_time: Duration = TIME, default(180);
    }
}
