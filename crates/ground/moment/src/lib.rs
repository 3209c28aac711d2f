//! Time as a value: timestamps, the UTC calendar, and clocks that are passed in.
//!
//! Nothing below `cli` reads the system clock. Code that needs the time takes a [`Timestamp`] or a
//! [`Clock`], so that a test can set it to the last millisecond of a month.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

const DAY_MS: i64 = 86_400_000;

/// A moment in UTC, in whole milliseconds since 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    ms: i64,
}

impl Timestamp {
    /// The latest timestamp that can be printed, near the end of the year 9999.
    pub const MAX: Timestamp = Timestamp { ms: 253_402_207_199_999 };

    pub const fn from_ms(ms: i64) -> Timestamp {
        Timestamp { ms }
    }

    pub const fn ms(self) -> i64 {
        self.ms
    }

    /// Whole seconds since 1970, rounded down.
    pub const fn seconds(self) -> i64 {
        self.ms.div_euclid(1000)
    }

    /// Days since 1970-01-01: the number of the UTC day this moment is in.
    pub const fn unix_day(self) -> i64 {
        self.ms.div_euclid(DAY_MS)
    }

    /// Months since January 1970: the number of the UTC month this moment is in.
    pub fn unix_month(self) -> i64 {
        let date = self.civil().date();
        (i64::from(date.year()) - 1970) * 12 + i64::from(date.month()) - 1
    }

    pub const fn start_of_day(day: i64) -> Timestamp {
        Timestamp { ms: day.saturating_mul(DAY_MS) }
    }

    pub fn start_of_month(month: i64) -> Timestamp {
        let year = i16::try_from(1970 + month.div_euclid(12)).unwrap_or(9999);
        let month = i8::try_from(1 + month.rem_euclid(12)).unwrap_or(1);
        let first = jiff::civil::Date::new(year.clamp(1, 9999), month, 1);
        first.map_or(Timestamp::MAX, Timestamp::midnight)
    }

    pub fn plus(self, duration: Duration) -> Timestamp {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Timestamp { ms: self.ms.saturating_add(ms) }
    }

    pub fn minus(self, duration: Duration) -> Timestamp {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Timestamp { ms: self.ms.saturating_sub(ms) }
    }

    /// The duration since `earlier`; zero if `earlier` is not before this.
    pub fn since(self, earlier: Timestamp) -> Duration {
        let ms = self.ms.saturating_sub(earlier.ms);
        Duration::from_millis(u64::try_from(ms).unwrap_or(0))
    }

    /// Parses an RFC 3339 timestamp such as `2026-11-15T03:18:34.000Z`, or a bare `YYYY-MM-DD`,
    /// which means midnight UTC of that day.
    pub fn parse(text: &str) -> Option<Timestamp> {
        if let Ok(moment) = text.parse::<jiff::Timestamp>() {
            return Some(Timestamp { ms: moment.as_millisecond() });
        }
        let is_bare_date = text.len() == 10;
        if !is_bare_date {
            return None;
        }
        text.parse::<jiff::civil::Date>().ok().map(Timestamp::midnight)
    }

    /// The UTC date, as `YYYY-MM-DD`.
    pub fn date(self) -> String {
        self.civil().date().to_string()
    }

    /// The digits alone, as `yyyymmdd.hhmmss`: the form of the service's version.
    pub fn to_version(self) -> String {
        self.civil().strftime("%Y%m%d.%H%M%S").to_string()
    }

    fn midnight(date: jiff::civil::Date) -> Timestamp {
        let epoch = jiff::civil::date(1970, 1, 1);
        let days = date.since(epoch).map_or(0, |span| i64::from(span.get_days()));
        Timestamp::start_of_day(days)
    }

    fn civil(self) -> jiff::civil::DateTime {
        let within = self.ms.clamp(-62_135_596_800_000, Timestamp::MAX.ms);
        let moment =
            jiff::Timestamp::from_millisecond(within).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        jiff::tz::Offset::UTC.to_datetime(moment)
    }
}

/// ISO 8601 with milliseconds: `2026-11-15T03:18:34.000Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Written digit by digit: every response and every log line has a timestamp, and a general
        // formatter takes ten times as long.
        let civil = self.civil();
        let mut text = *b"0000-00-00T00:00:00.000Z";
        let mut put = |place: std::ops::Range<usize>, number: i64| {
            let mut rest = number.unsigned_abs();
            for digit in text[place].iter_mut().rev() {
                *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
                rest /= 10;
            }
        };
        put(0..4, civil.year().into());
        put(5..7, civil.month().into());
        put(8..10, civil.day().into());
        put(11..13, civil.hour().into());
        put(14..16, civil.minute().into());
        put(17..19, civil.second().into());
        put(20..23, civil.millisecond().into());
        f.write_str(str::from_utf8(&text).unwrap_or_default())
    }
}

/// A source of the current time.
pub trait Clock: Send + Sync {
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is where the time comes from")]
        let now = SystemTime::now();
        let ms = match now.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_millis()).unwrap_or(i64::MAX),
            // The system clock is before 1970: it was never set.
            Err(before) => -i64::try_from(before.duration().as_millis()).unwrap_or(i64::MAX),
        };
        Timestamp { ms }
    }
}

/// A clock that stands still until a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock {
    ms: AtomicI64,
}

impl ManualClock {
    pub fn at(now: Timestamp) -> ManualClock {
        ManualClock { ms: AtomicI64::new(now.ms()) }
    }

    pub fn advance(&self, duration: Duration) {
        let ms = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        self.ms.fetch_add(ms, Ordering::SeqCst);
    }

    pub fn set(&self, now: Timestamp) {
        self.ms.store(now.ms(), Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.ms.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests;
