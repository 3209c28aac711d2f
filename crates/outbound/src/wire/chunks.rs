//! Incremental decoder of chunked bodies (RFC 9112, 7.1).

use bytes::Bytes;

use super::framing::pass_over;
use super::malformed::Malformed;

/// Maximum of all chunk extensions of a body, with whitespace and leading zeros. They are ignored.
pub(crate) const EXTENSION_BYTES_MAX: usize = 16 * 1024;
/// Maximum of all trailers. They are ignored.
pub(crate) const TRAILER_BYTES_MAX: usize = 16 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chunks {
    at: At,
    /// Remaining bytes of the current chunk.
    left: u64,
    extension_bytes: usize,
    trailer_bytes: usize,
}

/// The decoder's state: the expected next element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
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

impl Chunks {
    pub(crate) fn new() -> Chunks {
        Chunks { at: At::FirstDigit, left: 0, extension_bytes: 0, trailer_bytes: 0 }
    }

    /// Decodes up to the next byte of the body, and returns the number of contiguous bytes that
    /// follow. An error is returned again by every later call, because the wrong byte is not
    /// consumed.
    pub(crate) fn seek(&mut self, unread: &mut Bytes) -> Result<u64, Malformed> {
        let mut taken = 0;
        let mut error = None;
        while !matches!(self.at, At::Data | At::Nothing) {
            let Some(&byte) = unread.get(taken) else { break };
            match self.step(byte) {
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
            None if self.at == At::Data => Ok(self.left),
            None => Ok(0),
        }
    }

    /// Consumes this many bytes of the body.
    pub(crate) fn pass(&mut self, count: u64) {
        self.left -= count;
        if self.left == 0 {
            self.at = At::DataCr;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.at == At::Nothing
    }

    /// A lower bound of the remaining bytes of the body.
    pub(crate) fn left_min(&self) -> u64 {
        self.left
    }

    fn step(&mut self, byte: u8) -> Result<At, Malformed> {
        match (self.at, byte) {
            (At::FirstDigit | At::Digit, _) if byte.is_ascii_hexdigit() => self.digit(byte),
            (At::Digit | At::Blank, b' ' | b'\t') => self.extension(At::Blank),
            (At::Digit | At::Blank, b';') => self.extension(At::Extension),
            (At::Digit | At::Blank | At::Extension, b'\r') => Ok(At::SizeLf),
            // Other parsers may take a bare line feed as the end of the line.
            (At::Extension, b'\n') => Err(Malformed("a line feed in a chunk extension")),
            (At::Extension, _) => self.extension(At::Extension),
            (At::SizeLf, b'\n') if self.left == 0 => Ok(At::LastLine),
            (At::SizeLf, b'\n') => Ok(At::Data),
            (At::DataCr, b'\r') => Ok(At::DataLf),
            (At::DataLf, b'\n') => Ok(At::FirstDigit),
            (At::LastLine, b'\r') => Ok(At::EndLf),
            (At::EndLf, b'\n') => Ok(At::Nothing),
            (At::LastLine | At::TrailerName, _) if is_in_name(byte) => {
                self.trailer(At::TrailerName)
            }
            (At::TrailerName, b':') => self.trailer(At::TrailerValue),
            (At::TrailerValue, b'\r') => Ok(At::TrailerLf),
            (At::TrailerValue, _) if is_in_value(byte) => self.trailer(At::TrailerValue),
            (At::TrailerLf, b'\n') => Ok(At::LastLine),
            _ => Err(Malformed("invalid chunk framing")),
        }
    }

    fn digit(&mut self, byte: u8) -> Result<At, Malformed> {
        let digit = char::from(byte).to_digit(16).map_or(0, u64::from);
        let size = self.left.checked_mul(16).ok_or(Malformed("a chunk size that is too large"))?;
        let is_after_zero = self.at == At::Digit && self.left == 0;
        let next = if is_after_zero { self.extension(At::Digit)? } else { At::Digit };
        self.left = size + digit;
        Ok(next)
    }

    fn extension(&mut self, next: At) -> Result<At, Malformed> {
        if self.extension_bytes == EXTENSION_BYTES_MAX {
            return Err(Malformed("chunk extensions that are too long"));
        }
        self.extension_bytes += 1;
        Ok(next)
    }

    fn trailer(&mut self, next: At) -> Result<At, Malformed> {
        if self.trailer_bytes == TRAILER_BYTES_MAX {
            return Err(Malformed("trailers that are too long"));
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
