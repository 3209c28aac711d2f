//! A zip archive; only the requested parts are unpacked, as streams.

use std::io::{self, BufReader, Cursor, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::fault::{self, DocumentReadError};
use crate::markup::{MarkupKind, MarkupParser};

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

pub(crate) struct DocumentArchive<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    bytes_left: &'a mut u64,
    opened: usize,
}

impl<'a> DocumentArchive<'a> {
    pub(crate) fn open(
        bytes: &'a [u8],
        bytes_left: &'a mut u64,
    ) -> Result<DocumentArchive<'a>, DocumentReadError> {
        // Counted before the directory is parsed, because an archive may declare a wrong number.
        if ENTRIES_MAX < memchr::memmem::find_iter(bytes, ENTRY_MARK).count() {
            return Err(fault::TOO_MANY_PARTS);
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| fault::DAMAGED)?;
        Ok(DocumentArchive { zip, bytes_left, opened: 0 })
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.zip.index_for_name_raw(name.as_bytes()).is_some()
    }

    /// The media type that the archive states.
    pub(crate) fn media_type(&mut self) -> Result<Option<String>, DocumentReadError> {
        if !self.has(MEDIA_TYPE) {
            return Ok(None);
        }
        let mut text = String::new();
        let mut part = self.open_part(MEDIA_TYPE)?.take(MEDIA_TYPE_BYTES_MAX);
        part.read_to_string(&mut text).map_err(|error| map_io_error(&error))?;
        Ok(Some(text.trim().to_owned()))
    }

    /// Opens a part; fails if it is missing.
    pub(crate) fn open_markup(
        &mut self,
        name: &str,
        kind: MarkupKind,
    ) -> Result<MarkupParser<'_>, DocumentReadError> {
        let part = self.open_part(name)?;
        Ok(MarkupParser::new(BufReader::new(part), kind))
    }

    fn open_part(&mut self, name: &str) -> Result<PartReader<'_>, DocumentReadError> {
        self.opened += 1;
        if OPENED_MAX < self.opened {
            return Err(fault::TOO_MANY_PARTS);
        }
        let index = self.zip.index_for_name_raw(name.as_bytes()).ok_or(fault::MISSING_PART)?;
        let file = self.zip.by_index(index).map_err(|error| map_zip_error(&error))?;
        // The declared size is checked first to save work; the actual size is counted while
        // unpacking.
        if *self.bytes_left < file.size() {
            return Err(fault::UNPACKS_TOO_LARGE);
        }
        Ok(PartReader { file: Box::new(file), bytes_left: self.bytes_left, since_mark: 0 })
    }
}

/// Rejects a table that names more parts than an archive may have.
pub(crate) fn check_count(count: usize) -> Result<(), DocumentReadError> {
    if ENTRIES_MAX < count { Err(fault::TOO_MANY_PARTS) } else { Ok(()) }
}

/// Maximum length of one XML token. Books may have images in attributes.
const TOKEN_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The bytes of one part, counted while they are unpacked.
pub(crate) struct PartReader<'a> {
    file: Box<dyn Read + 'a>,
    bytes_left: &'a mut u64,
    /// Bytes read since the last complete token.
    since_mark: usize,
}

impl PartReader<'_> {
    /// Called by a reader when it has no partial token buffered.
    pub(crate) fn mark_token_end(&mut self) {
        self.since_mark = 0;
    }
}

impl Read for PartReader<'_> {
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
pub(crate) fn map_io_error(error: &io::Error) -> DocumentReadError {
    let ours = error.get_ref().and_then(|inner| inner.downcast_ref::<DocumentReadError>());
    ours.copied().unwrap_or(fault::DAMAGED)
}

fn map_zip_error(error: &ZipError) -> DocumentReadError {
    match error {
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => fault::ENCRYPTED,
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            fault::COMPRESSION
        }
        _ => fault::DAMAGED,
    }
}
