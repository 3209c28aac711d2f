//! Files that ended the process while they were loaded: tried twice, and then left alone.
//!
//! llama.cpp ends the whole process at some faults inside a file. A mark is written before a file is
//! loaded and taken away afterwards, so that a mark that is still there tells the next process.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// Once may be a kill from outside, or the system that ran out of memory.
const UNFINISHED_MAX: u32 = 2;

#[derive(Debug, Clone)]
pub(super) struct Trials {
    folder: PathBuf,
    /// The mark of the file that is being loaded.
    under_way: Arc<Mutex<Option<PathBuf>>>,
}

/// A file being loaded. It is over when this is dropped, but not when the process ends before.
#[derive(Debug)]
pub(super) struct Trial {
    trials: Trials,
    /// The process ended while the file was loaded the last time.
    pub(super) ended_before: bool,
}

/// The process ended as often as it may while the file was loaded.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deadly;

impl Trials {
    pub(super) fn in_folder(folder: PathBuf) -> Trials {
        Trials { folder, under_way: Arc::default() }
    }

    /// A file that was changed since is another file.
    pub(super) fn begin(&self, file: &Path) -> Result<Trial, Deadly> {
        let mark = self.folder.join(name(file));
        let unfinished = std::fs::read_to_string(&mark).ok();
        let unfinished = unfinished.and_then(|it| it.parse().ok()).unwrap_or(0_u32);
        if UNFINISHED_MAX <= unfinished {
            return Err(Deadly);
        }
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(&mark, (unfinished + 1).to_string()));
        if let Err(error) = written {
            tracing::warn!("cannot write {}: {error}", mark.display());
        }
        *self.under_way() = Some(mark);
        Ok(Trial { trials: self.clone(), ended_before: 0 < unfinished })
    }

    /// The process ends because it was told to, and not because of the file.
    pub(super) fn end(&self) {
        if let Some(mark) = self.under_way().take() {
            // One that could not be written is not there.
            let _ = std::fs::remove_file(mark);
        }
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, Option<PathBuf>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.trials.end();
    }
}

/// The same for the same bytes under the same path, as far as the system tells without reading.
fn name(file: &Path) -> String {
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
        let trials = || Trials::in_folder(folder.path().join("loading"));
        for _ in 0..UNFINISHED_MAX {
            // The process ends without dropping anything.
            std::mem::forget(trials().begin(&deadly).unwrap());
        }
        assert_eq!(trials().begin(&deadly).unwrap_err(), Deadly);
        file(&folder, "mended file");
        assert!(trials().begin(&deadly).is_ok());
    }

    #[test]
    fn a_load_that_ends_or_is_given_up_in_good_order_counts_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let good = file(&folder, "good");
        let trials = Trials::in_folder(folder.path().join("loading"));
        for _ in 0..5 {
            drop(trials.begin(&good).unwrap());
        }
        for _ in 0..5 {
            std::mem::forget(trials.begin(&good).unwrap());
            trials.end();
        }
        assert!(trials.begin(&good).is_ok());
    }
}
