//! Notes of backups in progress, so that the files of a killed process are removed.
//!
//! A backup is written to a path that the operator chooses, so the next start could not know where
//! to look. For each backup in progress there is one note next to the database, with the path of
//! its file.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::sqlite::backup::{file_error, sync_directory, with_ending};

const NOTE_ENDING: &str = "-backup-";
/// The suffix of an unfinished backup's file.
pub(crate) const PARTIAL_ENDING: &str = ".partial";

/// A backup in progress. Dropping it removes its partial file and its note.
pub(crate) struct PartialBackup {
    note: PathBuf,
    partial: PathBuf,
}

impl PartialBackup {
    /// Writes the note durably, before the backup file is created.
    pub(crate) fn begin(database: &Path, to: &Path) -> Result<PartialBackup, StoreError> {
        let partial = with_ending(to, PARTIAL_ENDING);
        let digest = Sha256::digest(partial.as_os_str().as_encoded_bytes());
        let name = hex::encode(&digest[..8]);
        let note = with_ending(database, &format!("{NOTE_ENDING}{name}"));
        let written = fs::File::create(&note).and_then(|mut file| {
            file.write_all(partial.as_os_str().as_encoded_bytes())?;
            file.sync_all()
        });
        written.map_err(|error| file_error(&note, &error))?;
        sync_directory(&note)?;
        let begun = PartialBackup { note, partial };
        begun.remove_files();
        Ok(begun)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.partial
    }

    fn remove_files(&self) {
        for file in [self.partial.clone(), with_ending(&self.partial, "-journal")] {
            // A missing file is fine.
            let _ = fs::remove_file(file);
        }
    }
}

impl Drop for PartialBackup {
    fn drop(&mut self) {
        self.remove_files();
        let _ = fs::remove_file(&self.note);
    }
}

/// Removes the files of backups whose process was killed. This process must hold the database's
/// lock.
pub(crate) fn remove_left_over(database: &Path) -> Result<(), StoreError> {
    let directory = database.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = directory.unwrap_or(Path::new("."));
    let Some(name) = database.file_name() else { return Ok(()) };
    let prefix = format!("{}{NOTE_ENDING}", name.to_string_lossy());
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        // The directory does not exist yet.
        Err(_) => return Ok(()),
    };
    for entry in entries {
        let note = entry.map_err(|error| file_error(directory, &error))?.path();
        let is_note =
            note.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix));
        if !is_note {
            continue;
        }
        let partial = fs::read_to_string(&note).map_err(|error| file_error(&note, &error))?;
        if partial.ends_with(PARTIAL_ENDING) {
            tracing::warn!("a backup was cut off; removing {partial}");
            drop(PartialBackup { note, partial: PathBuf::from(partial) });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{SqliteOptions, SqliteStore};

    #[test]
    fn what_a_killed_backup_left_is_removed_at_the_next_start() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let database = home.path().join("tollgate.db");
        let to = elsewhere.path().join("monday.db");
        let kept = elsewhere.path().join("sunday.db.partial");
        fs::write(&kept, "of another service").unwrap();
        let begun = PartialBackup::begin(&database, &to).unwrap();
        fs::write(begun.path(), "half").unwrap();
        fs::write(with_ending(begun.path(), "-journal"), "its journal").unwrap();
        // A killed process runs no destructors.
        std::mem::forget(begun);
        drop(SqliteStore::open(&SqliteOptions::scratch(&database)).unwrap());
        let left: Vec<_> = fs::read_dir(elsewhere.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(kept.exists());
        let notes = fs::read_dir(home.path()).unwrap().flatten();
        let notes: Vec<_> =
            notes.filter(|it| it.file_name().to_string_lossy().contains(NOTE_ENDING)).collect();
        assert!(notes.is_empty(), "{notes:?}");
    }
}
