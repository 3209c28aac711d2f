//! Reads the headers of a file, up to a number of bytes in total.
//!
//! The parts of a JPEG or HEIF file form a chain that can be as long as the file. The contents of a
//! part are skipped at no cost, so the bound is on the bytes that are read and not on their place:
//! a large colour profile before the size is no fault.

use std::io::{BufRead, Cursor, Error, Read, Result, Seek, SeekFrom};

/// Bytes of headers that are read. JPEG files have 4 for each part of up to 64 KiB, HEIF files have
/// about 20 for each property of a tile.
pub(super) const HEADER_BYTES_MAX: usize = 64 * 1024;

/// A file in memory, of which at most [`HEADER_BYTES_MAX`] bytes are read.
pub(super) struct HeaderReader<'a> {
    file: Cursor<&'a [u8]>,
    bytes_read: usize,
    is_exhausted: bool,
}

impl<'a> HeaderReader<'a> {
    pub(super) fn new(file: &'a [u8]) -> HeaderReader<'a> {
        HeaderReader { file: Cursor::new(file), bytes_read: 0, is_exhausted: false }
    }

    /// True if a read was refused because of the limit.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_exhausted
    }

    #[cfg(test)]
    pub(super) fn bytes_read(&self) -> usize {
        self.bytes_read
    }
}

impl Read for HeaderReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if HEADER_BYTES_MAX - self.bytes_read < buffer.len() {
            self.is_exhausted = true;
            return Err(Error::other("too many bytes of headers"));
        }
        let count = self.file.read(buffer)?;
        self.bytes_read += count;
        Ok(count)
    }
}

impl BufRead for HeaderReader<'_> {
    /// The parsers of the accepted formats do not read through the buffer, so that it needs no
    /// limit of its own and gives nothing.
    fn fill_buf(&mut self) -> Result<&[u8]> {
        Ok(&[])
    }

    fn consume(&mut self, _count: usize) {}
}

impl Seek for HeaderReader<'_> {
    fn seek(&mut self, place: SeekFrom) -> Result<u64> {
        self.file.seek(place)
    }
}
