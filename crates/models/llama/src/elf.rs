//! Detects truncated library files. The system's loader maps a truncated file without an error, and
//! the process dies at the first missing page.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

const HEAD_BYTES: usize = 64;
const MAGIC: [u8; 4] = *b"\x7fELF";
const IS_64_BIT: u8 = 2;
/// The only byte order of our platforms.
const IS_LITTLE_ENDIAN: u8 = 1;

/// Checks the library and its backends in the same directory.
pub(crate) fn check_whole(library: &Path, folder: &Path) -> Result<(), (PathBuf, String)> {
    let mut files = vec![library.to_owned()];
    let beside = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let parts = beside.map(|it| it.path()).filter(|path| {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        name.starts_with("libggml") && name.contains(".so")
    });
    files.extend(parts);
    for path in files {
        check_file(&path).map_err(|cause| (path, cause))?;
    }
    Ok(())
}

fn check_file(path: &Path) -> Result<(), String> {
    let mut file = File::open(path).map_err(|error| error.to_string())?;
    let bytes = file.metadata().map_err(|error| error.to_string())?.len();
    let mut head = [0; HEAD_BYTES];
    if file.read_exact(&mut head).is_err() {
        return Err(format!("it has {bytes} bytes, less than any library"));
    }
    // Libraries of other systems have other formats, which their loaders check.
    let is_known = head[..4] == MAGIC && head[4] == IS_64_BIT && head[5] == IS_LITTLE_ENDIAN;
    if !is_known {
        return Ok(());
    }
    let needed = end_of_sections(&head).ok_or("its head makes no sense")?;
    if bytes < needed {
        return Err(format!("it has {bytes} bytes of {needed}"));
    }
    Ok(())
}

/// The end of the section table, which linkers write last.
fn end_of_sections(head: &[u8; HEAD_BYTES]) -> Option<u64> {
    let start = u64::from_le_bytes(head[40..48].try_into().ok()?);
    let of_one = u16::from_le_bytes(head[58..60].try_into().ok()?);
    let count = u16::from_le_bytes(head[60..62].try_into().ok()?);
    start.checked_add(u64::from(of_one) * u64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with a table of two sections of 64 bytes at byte 1000.
    fn library() -> Vec<u8> {
        let mut bytes = vec![0; 1128];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[40..48].copy_from_slice(&1000_u64.to_le_bytes());
        bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
        bytes[60..62].copy_from_slice(&2_u16.to_le_bytes());
        bytes
    }

    fn outcome(bytes: &[u8]) -> Result<(), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libllama.so");
        std::fs::write(&path, bytes).unwrap();
        check_file(&path)
    }

    #[test]
    fn a_file_that_was_cut_short_is_told_from_a_whole_one() {
        let whole = library();
        assert_eq!(outcome(&whole), Ok(()));
        assert_eq!(outcome(&whole[..1127]), Err("it has 1127 bytes of 1128".to_owned()));
        assert_eq!(outcome(b"x"), Err("it has 1 bytes, less than any library".to_owned()));
    }

    #[test]
    fn a_head_that_makes_no_sense_is_refused() {
        let mut bytes = library();
        bytes[40..48].copy_from_slice(&u64::MAX.to_le_bytes());
        assert_eq!(outcome(&bytes), Err("its head makes no sense".to_owned()));
    }

    #[test]
    fn a_part_that_was_cut_short_is_found_beside_its_library() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libllama.so");
        std::fs::write(&path, library()).unwrap();
        let part = folder.path().join("libggml-cpu-haswell.so");
        std::fs::write(&part, &library()[..500]).unwrap();
        let (found, _) = check_whole(&path, folder.path()).unwrap_err();
        assert_eq!(found, part);
    }
}
