//! Copies data while hashing it.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

const BLOCK_BYTES: usize = 128 * 1024;

/// Length and hash of copied data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileFingerprint {
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// Hashes and counts the data that passes.
#[derive(Default)]
pub(crate) struct FingerprintHasher {
    bytes: u64,
    hash: Sha256,
}

impl FingerprintHasher {
    pub(crate) fn update(&mut self, block: &[u8]) {
        self.bytes = self.bytes.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
        self.hash.update(block);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> FileFingerprint {
        let sha256 = hex::encode(self.hash.finalize());
        FileFingerprint { bytes: self.bytes, sha256 }
    }
}

/// Appends `input` to `output`; calls `tell` with the total number of bytes so far.
pub(crate) fn copy_and_hash(
    mut input: impl Read,
    mut output: impl Write,
    fingerprinter: &mut FingerprintHasher,
    tell: &dyn Fn(u64),
) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = match input.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        fingerprinter.update(&block[..count]);
        output.write_all(&block[..count])?;
        tell(fingerprinter.bytes());
    }
}

/// Hashes a file up to its current end.
pub(crate) fn hash_file(path: &Path, fingerprinter: &mut FingerprintHasher) -> io::Result<()> {
    copy_and_hash(File::open(path)?, io::sink(), fingerprinter, &|_| {})
}
