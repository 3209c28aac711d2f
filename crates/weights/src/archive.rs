//! Takes single files out of a wheel or a tarball, without unpacking the rest.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use zip::ZipArchive;

use crate::error::SourceError;

/// A file inside, and where it goes.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) path: String,
    pub(crate) to: PathBuf,
    /// More than this is not what was wanted, and is not written.
    pub(crate) bytes_max: u64,
}

/// Writes out every wanted file; one that is not inside is a fault of the archive.
pub(crate) fn extract(archive: &Path, name: &str, wanted: &[Wanted]) -> Result<(), SourceError> {
    let file = File::open(archive).map_err(SourceError::disk(archive))?;
    if name.ends_with(".whl") { from_wheel(file, wanted) } else { from_tarball(file, wanted) }
}

fn from_wheel(file: File, wanted: &[Wanted]) -> Result<(), SourceError> {
    let broken =
        |error: zip::result::ZipError| SourceError::Source(format!("broken wheel: {error}"));
    let mut wheel = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    for wanted in wanted {
        let entry = wheel.by_name(&wanted.path).map_err(broken)?;
        write(entry, wanted)?;
    }
    Ok(())
}

fn from_tarball(file: File, wanted: &[Wanted]) -> Result<(), SourceError> {
    let broken = |error: io::Error| SourceError::Source(format!("broken tarball: {error}"));
    let mut missing: HashMap<&str, &Wanted> =
        wanted.iter().map(|wanted| (wanted.path.as_str(), wanted)).collect();
    let mut tarball = tar::Archive::new(GzDecoder::new(BufReader::new(file)));
    for entry in tarball.entries().map_err(broken)? {
        let entry = entry.map_err(broken)?;
        let path = entry.path().map_err(broken)?.to_string_lossy().into_owned();
        if let Some(wanted) = missing.remove(path.as_str()) {
            write(entry, wanted)?;
        }
        if missing.is_empty() {
            return Ok(());
        }
    }
    let names: Vec<&str> = missing.into_keys().collect();
    Err(SourceError::Source(format!("the tarball has no {}", names.join(", "))))
}

/// A file has its name only when it is whole, because its presence is all that is looked at.
fn write(entry: impl Read, wanted: &Wanted) -> Result<(), SourceError> {
    let half = half_of(&wanted.to);
    let mut output = File::create(&half).map_err(SourceError::disk(&half))?;
    let mut entry = Unpacked { inner: entry.take(wanted.bytes_max.saturating_add(1)), fault: None };
    let copied = io::copy(&mut entry, &mut output);
    if let Some(fault) = entry.fault {
        return Err(SourceError::Source(format!("{} cannot be unpacked: {fault}", wanted.path)));
    }
    let bytes = copied.map_err(SourceError::disk(&half))?;
    if wanted.bytes_max < bytes {
        return Err(SourceError::Source(format!("{} is longer than it should be", wanted.path)));
    }
    std::fs::rename(&half, &wanted.to).map_err(SourceError::disk(&wanted.to))
}

fn half_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".half");
    PathBuf::from(name)
}

/// Remembers that reading failed, since a copy does not say which side did.
struct Unpacked<R> {
    inner: R,
    fault: Option<String>,
}

impl<R: Read> Read for Unpacked<R> {
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
