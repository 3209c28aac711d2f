//! Records of the operator's resets of the books' time to the clock.

use moment::Timestamp;

/// The setting that holds all of them, each as two numbers of eight bytes.
pub const TIME_MENDS: &str = "ledger_time_mends";

const MEND_BYTES: usize = 16;

/// A reset of the books' time: entries up to `after_seq` may be dated after `at`, although they are
/// older than those that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeReset {
    /// The sequence number of the last transfer before the reset.
    pub after_seq: i64,
    pub at: Timestamp,
}

/// Decodes the setting [`TIME_MENDS`].
pub fn read_time_resets(setting: Option<Vec<u8>>) -> Vec<TimeReset> {
    let bytes = setting.unwrap_or_default();
    let number = |bytes: &[u8]| bytes.try_into().map(i64::from_le_bytes).unwrap_or_default();
    let mend = |bytes: &[u8]| TimeReset {
        after_seq: number(&bytes[..8]),
        at: Timestamp::from_ms(number(&bytes[8..])),
    };
    bytes.chunks_exact(MEND_BYTES).map(mend).collect()
}

/// Encodes the setting [`TIME_MENDS`].
pub fn write_time_resets(mends: &[TimeReset]) -> Vec<u8> {
    let bytes = |mend: &TimeReset| [mend.after_seq.to_le_bytes(), mend.at.ms().to_le_bytes()];
    mends.iter().flat_map(bytes).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mends_are_read_as_they_were_written() {
        let mends = [1, 2].map(|number| TimeReset {
            after_seq: number << 40,
            at: Timestamp::from_ms(1_794_744_000_000 + number),
        });
        assert_eq!(read_time_resets(Some(write_time_resets(&mends))), mends);
        assert_eq!(read_time_resets(None), []);
    }
}
