//! `[queue]`: music and videos, which are generated asynchronously.

use std::time::Duration;

use crate::key::{Form, Key, Kind, Section};
use crate::reader::Reader;

const JOBS_MAX: i64 = 100_000;
const DAY_S: i64 = 86_400;
const COUNT: Kind = Kind::Integer { least: 1, most: JOBS_MAX };
const TIME: Kind = Kind::Seconds { least: 1, most: DAY_S };

pub const SECTION: Section = Section {
    name: "queue",
    form: Form::One,
    doc: "Music and videos, which are queued and made later.",
    keys: &[
        Key::with_default("workers", COUNT, "8", "How many jobs are under way at a time."),
        Key::with_default(
            "running_per_account",
            COUNT,
            "2",
            "How many jobs of one account are under way at a time. Accounts take turns.",
        ),
        Key::with_default(
            "open_per_account",
            COUNT,
            "100",
            "How many jobs of one account may wait or be under way; more are refused.",
        ),
        Key::with_default(
            "keep_media_s",
            Kind::Seconds { least: 60, most: 90 * DAY_S },
            "86400",
            "How long a result waits for its owner before it is deleted.",
        ),
        Key::with_default(
            "music_time_s",
            TIME,
            "60",
            "What callers are told about how long music takes, until 20 jobs of the model have \
             been measured.",
        ),
        Key::with_default("video_time_s", TIME, "180", "The same for videos."),
    ],
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue {
    pub workers: usize,
    pub running_per_account: usize,
    pub open_per_account: usize,
    pub keep_media: Duration,
    pub music_time: Duration,
    pub video_time: Duration,
}

pub(crate) fn read(reader: &Reader<'_>) -> Option<Queue> {
    let count = |name: &str| reader.integer(name).and_then(|count| usize::try_from(count).ok());
    let counts = ["workers", "running_per_account", "open_per_account"].map(count);
    let times = ["keep_media_s", "music_time_s", "video_time_s"].map(|name| reader.seconds(name));
    let [workers, running_per_account, open_per_account] = counts;
    let [keep_media, music_time, video_time] = times;
    Some(Queue {
        workers: workers?,
        running_per_account: running_per_account?,
        open_per_account: open_per_account?,
        keep_media: keep_media?,
        music_time: music_time?,
        video_time: video_time?,
    })
}
