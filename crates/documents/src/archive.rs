//! A zip archive; only the requested parts are unpacked, as streams.

use std::io::{self, BufReader, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::fault::{self, Unreadable};
use crate::markup::{Markup, MarkupKind};

/// Books with a thousand chapters and images have fewer.
const ENTRIES_MAX: usize = 20_000;
/// Maximum parts opened, because opening takes time even for empty ones.
const OPENED_MAX: usize = 4_096;
/// The signature of each entry in the central directory.
const ENTRY_MARK: &[u8] = b"PK\x01\x02";
/// The part that states an archive's media type, in formats that have one.
const MEDIA_TYPE: &str = "mimetype";
/// Media types are shorter.
const MEDIA_TYPE_BYTES_MAX: u64 = 256;

pub(crate) struct Archive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    bytes_left: &'a mut u64,
    opened: usize,
}

impl<'a> Archive<'a> {
    pub(crate) fn open(
        bytes: &'a [u8],
        bytes_left: &'a mut u64,
    ) -> Result<Archive<'a>, Unreadable> {
        // Counted before the directory is parsed, because an archive may declare a wrong number.
        if ENTRIES_MAX < memchr::memmem::find_iter(bytes, ENTRY_MARK).count() {
            return Err(fault::TOO_MANY_PARTS);
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| fault::DAMAGED)?;
        Ok(Archive { zip, bytes_left, opened: 0 })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name_raw(name.as_bytes()).is_some()
    }

    /// The media type that the archive states.
    pub(crate) fn media_type(&mut self) -> Result<Option<String>, Unreadable> {
        if !self.has(MEDIA_TYPE) {
            return Ok(None);
        }
        let mut text = String::new();
        let mut part = self.unpacked(MEDIA_TYPE)?.take(MEDIA_TYPE_BYTES_MAX);
        part.read_to_string(&mut text).map_err(|error| of_io(&error))?;
        Ok(Some(text.trim().to_owned()))
    }

    /// Opens a part; fails if it is missing.
    pub(crate) fn markup(
        &mut self,
        name: &str,
        kind: MarkupKind,
    ) -> Result<Markup<'_>, Unreadable> {
        let part = self.unpacked(name)?;
        Ok(Markup::new(BufReader::new(part), kind))
    }

    fn unpacked(&mut self, name: &str) -> Result<Unpacked<'_>, Unreadable> {
        self.opened += 1;
        if OPENED_MAX < self.opened {
            return Err(fault::TOO_MANY_PARTS);
        }
        let index = self.zip.index_for_name_raw(name.as_bytes()).ok_or(fault::MISSING_PART)?;
        let file = self.zip.by_index(index).map_err(|error| of_zip(&error))?;
        // The declared size is checked first to save work; the actual size is counted while
        // unpacking.
        if *self.bytes_left < file.size() {
            return Err(fault::UNPACKS_TOO_LARGE);
        }
        Ok(Unpacked { file: Box::new(file), bytes_left: self.bytes_left, since_mark: 0 })
    }
}

/// Rejects a table that names more parts than an archive may have.
pub(crate) fn check_count(count: usize) -> Result<(), Unreadable> {
    if ENTRIES_MAX < count { Err(fault::TOO_MANY_PARTS) } else { Ok(()) }
}

/// Maximum length of one XML token. Books may have images in attributes.
const TOKEN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The bytes of one part, counted while they are unpacked.
pub(crate) struct Unpacked<'a> {
    file: Box<dyn Read + 'a>,
    bytes_left: &'a mut u64,
    /// Bytes read since the last complete token.
    since_mark: usize,
}

impl Unpacked<'_> {
    /// Called by a reader when it has no partial token buffered.
    pub(crate) fn mark(&mut self) {
        self.since_mark = 0;
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.since_mark = self.since_mark.saturating_add(count);
        let left = u64::try_from(count).ok().and_then(|count| self.bytes_left.checked_sub(count));
        match left {
            Some(left) if self.since_mark <= TOKEN_BYTES_MAX => {
                *self.bytes_left = left;
                Ok(count)
            }
            _ => Err(io::Error::other(fault::UNPACKS_TOO_LARGE)),
        }
    }
}

/// Recovers our own errors from I/O errors; all others mean a damaged file.
pub(crate) fn of_io(error: &io::Error) -> Unreadable {
    let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<Unreadable>());
    ours.copied().unwrap_or(fault::DAMAGED)
}

fn of_zip(error: &ZipError) -> Unreadable {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => fault::ENCRYPTED,
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            fault::COMPRESSION
        }
        _ => fault::DAMAGED,
    }
}
