//! The file that makes charges durable: two areas of a fixed size, which generations of charges use
//! alternately. While one generation is posted, new charges are written to the other area.
//!
//! The file is allocated in full when it is created, so that a write changes data and no metadata:
//! one synchronous write, where a commit of SQLite takes a dozen calls. It bypasses the page cache
//! if the file system supports that, which halves the cost.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::sqlite::CommitDurability;
use crate::sqlite::charge_log::record::{self, BLOCK_BYTES, RecordPosition};

/// Room for the charges that may be waiting to be posted, if each was a commit of its own.
pub(crate) const AREA_BYTES: usize = 4 * 1024 * 1024;
const ROOM_BYTES: usize = 2 * AREA_BYTES;

#[cfg(target_os = "linux")]
const ROUND_THE_CACHE: i32 = libc::O_DIRECT;
#[cfg(not(target_os = "linux"))]
const ROUND_THE_CACHE: i32 = 0;

#[derive(Debug)]
pub(crate) struct LogFile {
    file: File,
    next: RecordPosition,
    /// Offset within the generation's area.
    next_at: usize,
    /// The buffer for a record; the block-aligned part of it is used.
    buffer: Vec<u8>,
}

/// The path next to the database, as for SQLite's own files.
pub(crate) fn path_beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-charges");
    PathBuf::from(name)
}

/// The contents of the file; empty if it does not exist.
pub(crate) fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

/// The area of a generation in a file, as far as the file reaches.
pub(crate) fn area_of(file: &[u8], generation: i64) -> &[u8] {
    let rest = file.get(start_of(generation)..).unwrap_or_default();
    &rest[..rest.len().min(AREA_BYTES)]
}

fn start_of(generation: i64) -> usize {
    if generation % 2 == 0 { 0 } else { AREA_BYTES }
}

impl LogFile {
    /// Opens or creates the file, and begins a generation in it.
    pub(crate) fn open(
        path: &Path,
        durability: CommitDurability,
        generation: i64,
    ) -> io::Result<LogFile> {
        let file = match durability {
            CommitDurability::Full => {
                allocate_file(path, &mut File::sync_all)?;
                open_synced(path)?
            }
            CommitDurability::Off => open_with(path, 0)?,
        };
        let next = RecordPosition { generation, number: 0 };
        Ok(LogFile { file, next, next_at: 0, buffer: Vec::new() })
    }

    /// Replaces the file, for example with one that is full.
    #[cfg(test)]
    pub(crate) fn swap_file(&mut self, file: File) -> File {
        std::mem::replace(&mut self.file, file)
    }

    pub(crate) fn generation(&self) -> i64 {
        self.next.generation
    }

    /// Makes the charges durable. False, with nothing written, if the area has no room for them.
    pub(crate) fn append(&mut self, charges: &[u8]) -> io::Result<bool> {
        let size = record::record_size(charges.len());
        if AREA_BYTES < self.next_at + size {
            return Ok(false);
        }
        let record = align_buffer(&mut self.buffer, size);
        record::write_record(record, self.next, charges);
        write_at_once(&self.file, record, start_of(self.next.generation) + self.next_at)?;
        self.next_at += size;
        self.next.number += 1;
        Ok(true)
    }

    /// Begins the next generation, in the other area: its old contents are in the tables, and the
    /// database has recorded that.
    pub(crate) fn begin_next_generation(&mut self) {
        self.next = RecordPosition { generation: self.next.generation + 1, number: 0 };
        self.next_at = 0;
    }
}

/// A buffer aligned to the block size, as direct I/O needs it.
fn align_buffer(buffer: &mut Vec<u8>, size: usize) -> &mut [u8] {
    buffer.resize(buffer.len().max(size + BLOCK_BYTES), 0);
    let start = buffer.as_ptr().align_offset(BLOCK_BYTES);
    &mut buffer[start..start + size]
}

/// Writes in one call. A short write means that the disk is full, and leaves an incomplete record,
/// which is ignored.
fn write_at_once(file: &File, bytes: &[u8], at: usize) -> io::Result<()> {
    let written = loop {
        match file.write_at(bytes, at as u64) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => break written?,
        }
    };
    if written < bytes.len() {
        return Err(ErrorKind::StorageFull.into());
    }
    Ok(())
}

/// Fills the file with zeros, and syncs its length and directory entry. Repeated at every start:
/// the process that allocated it may have ended before it synced.
fn allocate_file(path: &Path, sync: &mut dyn FnMut(&File) -> io::Result<()>) -> io::Result<()> {
    let mut file = open_with(path, libc::O_APPEND)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
    // One block more, which [`open_synced`] writes as a test.
    let missing = (ROOM_BYTES + BLOCK_BYTES).saturating_sub(length);
    file.write_all(&vec![0; missing])?;
    sync(&file)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    sync(&File::open(directory.unwrap_or(Path::new(".")))?)
}

/// Opens the file for synchronous direct writes. Not every file system supports direct I/O, and
/// some report that only on the first write; then the page cache is used.
fn open_synced(path: &Path) -> io::Result<File> {
    let direct = open_with(path, libc::O_DSYNC | ROUND_THE_CACHE).and_then(|file| {
        let mut buffer = Vec::new();
        write_at_once(&file, align_buffer(&mut buffer, BLOCK_BYTES), ROOM_BYTES)?;
        Ok(file)
    });
    match direct {
        Err(error) if error.kind() == ErrorKind::InvalidInput => open_with(path, libc::O_DSYNC),
        opened => opened,
    }
}

/// Opens the file so that only the user who runs the service may read it.
fn open_with(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = path_beside(&directory.path().join("tollgate.db"));
        (directory, path)
    }

    #[track_caller]
    fn expect(path: &Path, generation: i64, records: &[&[u8]]) {
        let file = read_all(path).unwrap();
        let area = area_of(&file, generation);
        assert_eq!(record::read_records(area, generation), Ok(records.to_vec()));
    }

    #[test]
    fn what_was_appended_is_read_until_a_generation_begins() {
        for durability in [CommitDurability::Full, CommitDurability::Off] {
            let (_directory, path) = path();
            assert_eq!(read_all(&path).unwrap(), Vec::<u8>::new());
            let mut log = LogFile::open(&path, durability, 5).unwrap();
            expect(&path, 5, &[]);
            let long = vec![9; 10_000];
            for charges in [&b"one"[..], &long, b"three"] {
                assert!(log.append(charges).unwrap());
            }
            expect(&path, 5, &[b"one", &long, b"three"]);
            log.begin_next_generation();
            expect(&path, 6, &[]);
            assert!(log.append(b"four").unwrap());
            expect(&path, 6, &[b"four"]);
            expect(&path, 5, &[b"one", &long, b"three"]);
            log.begin_next_generation();
            assert!(log.append(b"new").unwrap());
            expect(&path, 7, &[b"new"]);
            expect(&path, 6, &[b"four"]);
            drop(log);
            let mut log = LogFile::open(&path, durability, 7).unwrap();
            assert!(log.append(b"five").unwrap());
            expect(&path, 7, &[b"five"]);
        }
    }

    #[test]
    fn the_file_has_its_size_from_the_start_and_is_never_larger() {
        let (_directory, path) = path();
        let mut log = LogFile::open(&path, CommitDurability::Full, 1).unwrap();
        let length = std::fs::metadata(&path).unwrap().len();
        let mut appended: u64 = 0;
        for _ in 0..2 {
            while log.append(&[1; 100_000]).unwrap() {
                appended += 1;
            }
            assert!(log.append(&[1; 10]).unwrap(), "there is room for less");
            log.begin_next_generation();
        }
        assert_eq!(appended, 2 * (AREA_BYTES as u64 / 102_400));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), length);
        assert_eq!(std::fs::metadata(&path).unwrap().len(), (ROOM_BYTES + BLOCK_BYTES) as u64);
    }

    /// Supports direct I/O only since Linux 6.6.
    #[test]
    fn a_file_system_in_memory_will_do() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = directory.path().join("charges");
        let mut log = LogFile::open(&path, CommitDurability::Full, 5).unwrap();
        assert!(log.append(b"one").unwrap());
        expect(&path, 5, &[b"one"]);
    }

    /// The file of a process that was killed after it had written, and before it had synced.
    #[test]
    fn a_file_that_has_its_size_already_is_made_durable_all_the_same() {
        let (_directory, path) = path();
        std::fs::write(&path, vec![0; ROOM_BYTES + BLOCK_BYTES]).unwrap();
        let mut synced = Vec::new();
        allocate_file(&path, &mut |file| {
            synced.push(file.metadata()?.is_dir());
            file.sync_all()
        })
        .unwrap();
        assert_eq!(synced, [false, true], "the file, and the directory that it is in");
    }

    #[test]
    fn nobody_else_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_directory, path) = path();
        LogFile::open(&path, CommitDurability::Full, 1).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let error = write_at_once(&full, &[0; BLOCK_BYTES], 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::StorageFull);
    }
}
