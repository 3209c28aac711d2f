//! Records files that killed the process while loading: each is tried twice, then no more.
//!
//! llama.cpp aborts the process on some faults within a file. A marker is written before a load and
//! removed after it; a remaining marker tells the next process that the load did not finish.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// More than one, because a kill from outside or by the OOM killer may be the cause.
const UNFINISHED_MAX: u32 = 2;

#[derive(Debug, Clone)]
pub(super) struct LoadAttemptLog {
    folder: PathBuf,
    /// The marker of the file that is loading.
    under_way: Arc<Mutex<Option<PathBuf>>>,
}

/// A load in progress. Dropping it removes the marker; a dying process does not drop it.
#[derive(Debug)]
pub(super) struct LoadAttempt {
    trials: LoadAttemptLog,
    /// Set if the process died during the previous load of this file.
    pub(super) ended_before: bool,
}

/// The process died `UNFINISHED_MAX` times while loading the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RepeatedLoadCrash;

impl LoadAttemptLog {
    pub(super) fn in_folder(folder: PathBuf) -> LoadAttemptLog {
        LoadAttemptLog { folder, under_way: Arc::default() }
    }

    /// Starts a load. A modified file counts as a new one.
    pub(super) fn begin(&self, file: &Path) -> Result<LoadAttempt, RepeatedLoadCrash> {
        let mark = self.folder.join(marker_name(file));
        let unfinished = std::fs::read_to_string(&mark).ok();
        let unfinished = unfinished.and_then(|it| it.parse().ok()).unwrap_or(0_u32);
        if UNFINISHED_MAX <= unfinished {
            return Err(RepeatedLoadCrash);
        }
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&mark, (unfinished + 1).to_string()));
        if let Err(error) = written {
            tracing::warn!("cannot write {}: {error}", mark.display());
        }
        *self.under_way() = Some(mark);
        Ok(LoadAttempt { trials: self.clone(), ended_before: 0 < unfinished })
    }

    /// Call at an orderly exit, which is not the file's fault.
    pub(super) fn clear_marker(&self) {
        if let Some(mark) = self.under_way().take() {
            // Fails if the marker could not be written.
            let _ = std::fs::remove_file(mark);
        }
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, Option<PathBuf>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LoadAttempt {
    fn drop(&mut self) {
        self.trials.clear_marker();
    }
}

/// The marker's name: a hash of path, size and modification time.
fn marker_name(file: &Path) -> String {
    let metadata = std::fs::metadata(file).ok();
    let changed = metadata.as_ref().and_then(|it| it.modified().ok());
    let changed = changed.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let mut hasher = DefaultHasher::new();
    (file, metadata.map(|it| it.len()), changed).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &tempfile::TempDir, text: &str) -> PathBuf {
        let file = folder.path().join("x.gguf");
        std::fs::write(&file, text).unwrap();
        file
    }

    #[test]
    fn a_file_that_ends_the_process_twice_is_left_alone_until_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let deadly = file(&folder, "deadly");
        let trials = || LoadAttemptLog::in_folder(folder.path().join("loading"));
        for _ in 0..UNFINISHED_MAX {
            // Simulates a process that dies without running destructors.
            std::mem::forget(trials().begin(&deadly).unwrap());
        }
        assert_eq!(trials().begin(&deadly).unwrap_err(), RepeatedLoadCrash);
        file(&folder, "mended file");
        assert!(trials().begin(&deadly).is_ok());
    }

    #[test]
    fn a_load_that_ends_or_is_given_up_in_good_order_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let good = file(&folder, "good");
        let trials = LoadAttemptLog::in_folder(folder.path().join("loading"));
        for _ in 0..5 {
            drop(trials.begin(&good).unwrap());
        }
        for _ in 0..5 {
            std::mem::forget(trials.begin(&good).unwrap());
            trials.clear_marker();
        }
        assert!(trials.begin(&good).is_ok());
    }
}
