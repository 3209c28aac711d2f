//! Compact encoding of numbers, ids and texts. Decoding rejects bytes that no encoder writes.
//!
//! Whole numbers take seven bits per byte, the lowest first; signed ones fold their sign into the
//! lowest bit. A charge consists mostly of small numbers.

use uuid::Uuid;

const MORE: u8 = 0x80;

#[derive(Debug)]
pub(crate) struct CompactEncoder {
    pub(crate) bytes: Vec<u8>,
}

impl CompactEncoder {
    pub(crate) fn encode_byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub(crate) fn encode_unsigned(&mut self, mut number: u64) {
        while u64::from(MORE) <= number {
            self.encode_byte(number.to_le_bytes()[0] | MORE);
            number >>= 7;
        }
        self.encode_byte(number.to_le_bytes()[0]);
    }

    pub(crate) fn encode_signed(&mut self, number: i64) {
        self.encode_unsigned(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    pub(crate) fn encode_optional(&mut self, number: Option<u64>) {
        self.encode_byte(u8::from(number.is_some()));
        if let Some(number) = number {
            self.encode_unsigned(number);
        }
    }

    pub(crate) fn encode_id(&mut self, id: Uuid) {
        self.bytes.extend_from_slice(id.as_bytes());
    }

    pub(crate) fn encode_text(&mut self, text: &str) {
        self.encode_unsigned(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

/// Every method returns `None` if the bytes are not those of an [`CompactEncoder`].
#[derive(Debug)]
pub(crate) struct CompactDecoder<'a> {
    rest: &'a [u8],
}

impl<'a> CompactDecoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> CompactDecoder<'a> {
        CompactDecoder { rest: bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn decode_byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    pub(crate) fn decode_unsigned(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.decode_byte()?;
            let bits = u64::from(byte & !MORE);
            // The tenth byte has room for one bit.
            if (bits << shift) >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & MORE == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(crate) fn decode_signed(&mut self) -> Option<i64> {
        let folded = self.decode_unsigned()?;
        Some((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    pub(crate) fn decode_optional(&mut self) -> Option<Option<u64>> {
        match self.decode_byte()? {
            0 => Some(None),
            1 => self.decode_unsigned().map(Some),
            _ => None,
        }
    }

    pub(crate) fn decode_id(&mut self) -> Option<Uuid> {
        let (id, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(Uuid::from_bytes(*id))
    }

    pub(crate) fn decode_text(&mut self) -> Option<String> {
        let length = usize::try_from(self.decode_unsigned()?).ok()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(std::str::from_utf8(text).ok()?.to_owned())
    }

    /// Decodes a count and that many items. A count larger than the remaining bytes allocates
    /// nothing.
    pub(crate) fn decode_list<T>(
        &mut self,
        mut read: impl FnMut(&mut CompactDecoder<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let count = usize::try_from(self.decode_unsigned()?).ok()?;
        if self.rest.len() < count {
            return None;
        }
        (0..count).map(|_| read(self)).collect()
    }
}
