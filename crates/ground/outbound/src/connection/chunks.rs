//! Incremental decoder of chunked bodies (RFC 9112, 7.1).

use bytes::Bytes;

use super::framing::pass_over;
use super::malformed::MalformedResponse;

/// Maximum of all chunk extensions of a body, with whitespace and leading zeros. They are ignored.
pub(crate) const EXTENSION_BYTES_MAX: usize = 16 * 1024;
/// Maximum of all trailers. They are ignored.
pub(crate) const TRAILER_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkedDecoder {
    at: ChunkState,
    /// Remaining bytes of the current chunk.
    left: u64,
    extension_bytes: usize,
    trailer_bytes: usize,
}

/// The decoder's state: the expected next element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    FirstDigit,
    Digit,
    Blank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    /// A trailer, or the empty line at the end.
    LastLine,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Nothing,
}

impl ChunkedDecoder {
    pub(crate) fn new() -> ChunkedDecoder {
        ChunkedDecoder { at: ChunkState::FirstDigit, left: 0, extension_bytes: 0, trailer_bytes: 0 }
    }

    /// Decodes up to the next byte of the body, and returns the number of contiguous bytes that
    /// follow. An error is returned again by every later call, because the wrong byte is not
    /// consumed.
    pub(crate) fn decode_to_data(&mut self, unread: &mut Bytes) -> Result<u64, MalformedResponse> {
        let mut taken = 0;
        let mut error = None;
        while !matches!(self.at, ChunkState::Data | ChunkState::Nothing) {
            let Some(&byte) = unread.get(taken) else { break };
            match self.decode_byte(byte) {
                Ok(next) => self.at = next,
                Err(malformed) => {
                    error = Some(malformed);
                    break;
                }
            }
            taken += 1;
        }
        pass_over(unread, taken);
        match error {
            Some(malformed) => Err(malformed),
            None if self.at == ChunkState::Data => Ok(self.left),
            None => Ok(0),
        }
    }

    /// Consumes this many bytes of the body.
    pub(crate) fn consume_data(&mut self, count: u64) {
        self.left -= count;
        if self.left == 0 {
            self.at = ChunkState::DataCr;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at == ChunkState::Nothing
    }

    /// A lower bound of the remaining bytes of the body.
    pub(crate) fn left_min(&self) -> u64 {
        self.left
    }

    fn decode_byte(&mut self, byte: u8) -> Result<ChunkState, MalformedResponse> {
        match (self.at, byte) {
            (ChunkState::FirstDigit | ChunkState::Digit, _) if byte.is_ascii_hexdigit() => {
                self.decode_digit(byte)
            }
            (ChunkState::Digit | ChunkState::Blank, b' ' | b'\t') => {
                self.count_extension(ChunkState::Blank)
            }
            (ChunkState::Digit | ChunkState::Blank, b';') => {
                self.count_extension(ChunkState::Extension)
            }
            (ChunkState::Digit | ChunkState::Blank | ChunkState::Extension, b'\r') => {
                Ok(ChunkState::SizeLf)
            }
            // Other parsers may take a bare line feed as the end of the line.
            (ChunkState::Extension, b'\n') => {
                Err(MalformedResponse("a line feed in a chunk extension"))
            }
            (ChunkState::Extension, _) => self.count_extension(ChunkState::Extension),
            (ChunkState::SizeLf, b'\n') if self.left == 0 => Ok(ChunkState::LastLine),
            (ChunkState::SizeLf, b'\n') => Ok(ChunkState::Data),
            (ChunkState::DataCr, b'\r') => Ok(ChunkState::DataLf),
            (ChunkState::DataLf, b'\n') => Ok(ChunkState::FirstDigit),
            (ChunkState::LastLine, b'\r') => Ok(ChunkState::EndLf),
            (ChunkState::EndLf, b'\n') => Ok(ChunkState::Nothing),
            (ChunkState::LastLine | ChunkState::TrailerName, _) if is_in_name(byte) => {
                self.count_trailer(ChunkState::TrailerName)
            }
            (ChunkState::TrailerName, b':') => self.count_trailer(ChunkState::TrailerValue),
            (ChunkState::TrailerValue, b'\r') => Ok(ChunkState::TrailerLf),
            (ChunkState::TrailerValue, _) if is_in_value(byte) => {
                self.count_trailer(ChunkState::TrailerValue)
            }
            (ChunkState::TrailerLf, b'\n') => Ok(ChunkState::LastLine),
            _ => Err(MalformedResponse("invalid chunk framing")),
        }
    }

    fn decode_digit(&mut self, byte: u8) -> Result<ChunkState, MalformedResponse> {
        let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
        let size =
            self.left.checked_mul(16).ok_or(MalformedResponse("a chunk size that is too large"))?;
        let is_after_zero = self.at == ChunkState::Digit && self.left == 0;
        let next = if is_after_zero {
            self.count_extension(ChunkState::Digit)?
        } else {
            ChunkState::Digit
        };
        self.left = size + digit;
        Ok(next)
    }

    fn count_extension(&mut self, next: ChunkState) -> Result<ChunkState, MalformedResponse> {
        if self.extension_bytes == EXTENSION_BYTES_MAX {
            return Err(MalformedResponse("chunk extensions that are too long"));
        }
        self.extension_bytes += 1;
        Ok(next)
    }

    fn count_trailer(&mut self, next: ChunkState) -> Result<ChunkState, MalformedResponse> {
        if self.trailer_bytes == TRAILER_BYTES_MAX {
            return Err(MalformedResponse("trailers that are too long"));
        }
        self.trailer_bytes += 1;
        Ok(next)
    }
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_in_value(byte: u8) -> bool {
    byte == b'\t' || (b' ' <= byte && byte != 0x7f)
}
