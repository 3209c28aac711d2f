//! Randomness is passed as an argument, so that a test can repeat a run byte for byte.

use moment::Timestamp;
use uuid::Uuid;

/// A source of random bytes: the operating system in the service, a seed in tests.
pub trait EntropySource: Send + Sync {
    fn fill_bytes(&self, bytes: &mut [u8]);
}

/// A UUIDv7. Rows are read and inserted in the order of their ids, and time-ordered ids keep the
/// unique index of the journal cheap: random ids cost 40 % of the settles per second.
pub fn time_ordered_id(now: Timestamp, entropy: &dyn EntropySource) -> Uuid {
    let mut random = [0; 10];
    entropy.fill_bytes(&mut random);
    let ms = u64::try_from(now.ms()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid()
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The 32 hexadecimal digits that name a request in headers, logs and usage rows.
pub fn request_id(entropy: &dyn EntropySource) -> String {
    let mut random = [0; 16];
    entropy.fill_bytes(&mut random);
    let mut text = String::with_capacity(32);
    for byte in random {
        text.extend([byte >> 4, byte & 15].map(|half| char::from(HEX[usize::from(half)])));
    }
    text
}
