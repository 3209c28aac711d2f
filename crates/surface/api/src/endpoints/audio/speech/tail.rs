//! Keeps back the end of a stream until its charge is durable.

use bytes::{Bytes, BytesMut};

/// Too short to be heard if missing: a millisecond of plain samples.
const KEPT_BYTES: usize = 64;

/// The last bytes received.
#[derive(Default)]
pub(super) struct WithheldTail {
    kept: BytesMut,
}

impl WithheldTail {
    /// The bytes that may be sent now, if any.
    pub(super) fn push(&mut self, bytes: &Bytes) -> Option<Bytes> {
        self.kept.extend_from_slice(bytes);
        let ready = self.kept.len().checked_sub(KEPT_BYTES).filter(|ready| 0 < *ready)?;
        Some(self.kept.split_to(ready).freeze())
    }

    /// The bytes kept back.
    pub(super) fn into_bytes(self) -> Bytes {
        self.kept.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_stay_until_the_end() {
        for sizes in [&[1000, 1, 64, 63, 200][..], &[1; 100], &[64], &[10, 10], &[65, 1]] {
            let mut tail = WithheldTail::default();
            let mut sent = Vec::new();
            let mut came = Vec::new();
            for (number, size) in (0_u8..).zip(sizes) {
                let bytes = Bytes::from(vec![number; *size]);
                came.extend_from_slice(&bytes);
                sent.extend(tail.push(&bytes).into_iter().flatten());
                assert_eq!(came.len() - sent.len(), came.len().min(KEPT_BYTES));
            }
            sent.extend(tail.into_bytes());
            assert_eq!(sent, came);
        }
    }
}
