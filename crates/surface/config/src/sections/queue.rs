//! `[queue]`: music and videos, which are generated asynchronously.

use std::time::Duration;

use crate::key::{ConfigKey, ConfigSection, SectionForm, ValueKind};
use crate::reader::TableReader;

const JOBS_MAX: i64 = 100_000;
const DAY_S: i64 = 86_400;
const COUNT: ValueKind = ValueKind::Integer { least: 1, most: JOBS_MAX };
const TIME: ValueKind = ValueKind::Seconds { least: 1, most: DAY_S };

pub const SECTION: ConfigSection = ConfigSection {
    name: "queue",
    form: SectionForm::One,
    doc: "Queued generation of music and videos.",
    keys: &[
        ConfigKey::with_default("workers", COUNT, "8", "The maximum number of running jobs."),
        ConfigKey::with_default(
            "running_per_account",
            COUNT,
            "2",
            "The maximum number of running jobs per account. Accounts take turns.",
        ),
        ConfigKey::with_default(
            "open_per_account",
            COUNT,
            "100",
            "The maximum number of waiting and running jobs per account. Further ones are refused.",
        ),
        ConfigKey::with_default(
            "keep_media_s",
            ValueKind::Seconds { least: 60, most: 90 * DAY_S },
            "86400",
            "Time after which an unretrieved result is deleted.",
        ),
        ConfigKey::with_default(
            "music_time_s",
            TIME,
            "60",
            "The execution time of music reported to callers until 20 jobs of the model were \
             measured.",
        ),
        ConfigKey::with_default(
            "video_time_s",
            TIME,
            "180",
            "The same as `music_time_s`, for videos.",
        ),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueConfig {
    pub workers: usize,
    pub running_per_account: usize,
    pub open_per_account: usize,
    pub keep_media: Duration,
    pub music_time: Duration,
    pub video_time: Duration,
}

pub(crate) fn read_queue_config(reader: &TableReader<'_>) -> Option<QueueConfig> {
    let count = |name: &str| reader.integer(name).and_then(|count| usize::try_from(count).ok());
    let counts = ["workers", "running_per_account", "open_per_account"].map(count);
    let times = ["keep_media_s", "music_time_s", "video_time_s"].map(|name| reader.seconds(name));
    let [workers, running_per_account, open_per_account] = counts;
    let [keep_media, music_time, video_time] = times;
    Some(QueueConfig {
        workers: workers?,
        running_per_account: running_per_account?,
        open_per_account: open_per_account?,
        keep_media: keep_media?,
        music_time: music_time?,
        video_time: video_time?,
    })
}
