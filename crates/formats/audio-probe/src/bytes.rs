//! Reads numbers at offsets that may be out of range.

/// Reads numbers of either byte order.
pub(crate) trait ReadNumbers {
    fn le16(&self, at: usize) -> Option<u16>;
    fn le32(&self, at: usize) -> Option<u32>;
    fn be16(&self, at: usize) -> Option<u16>;
    fn be32(&self, at: usize) -> Option<u32>;
    fn be64(&self, at: usize) -> Option<u64>;
    fn le64(&self, at: usize) -> Option<u64>;
}

impl ReadNumbers for [u8] {
    fn le16(&self, at: usize) -> Option<u16> {
        read_array(self, at).map(u16::from_le_bytes)
    }

    fn le32(&self, at: usize) -> Option<u32> {
        read_array(self, at).map(u32::from_le_bytes)
    }

    fn be16(&self, at: usize) -> Option<u16> {
        read_array(self, at).map(u16::from_be_bytes)
    }

    fn be32(&self, at: usize) -> Option<u32> {
        read_array(self, at).map(u32::from_be_bytes)
    }

    fn be64(&self, at: usize) -> Option<u64> {
        read_array(self, at).map(u64::from_be_bytes)
    }

    fn le64(&self, at: usize) -> Option<u64> {
        read_array(self, at).map(u64::from_le_bytes)
    }
}

fn read_array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

/// The length as `u64`, like numbers in files.
pub(crate) fn count_bytes(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

/// Converts a size from a file to an offset, saturating if it does not fit.
pub(crate) fn to_offset(size: u64) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}
