//! Errors of downloads.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The reason why a model was not downloaded. The message contains the remedy.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PullError {
    #[error("there is no built-in model {id}; `tollgate models list` lists the available ones")]
    Unknown { id: String },
    #[error("{id} is not published for this platform")]
    Platform { id: String },
    /// All sources were tried.
    #[error("{id} could not be downloaded: no source has {file}\n{}", indent_lines(.tried))]
    NoSource { id: String, file: String, tried: Vec<String> },
    /// A disk error: other sources would not help.
    #[error("{id} could not be downloaded: {}", describe_disk_error(.path, .error))]
    Disk { id: String, path: PathBuf, error: Arc<io::Error> },
    #[error("the download of {id} was interrupted; try again")]
    CutShort { id: String },
}

/// The reason why a source did not provide a file.
#[derive(Debug)]
pub(crate) enum SourceError {
    /// The source is at fault; another may succeed.
    Source(String),
    /// No connection; further files of this source are not tried.
    Unreachable(String),
    Disk {
        path: PathBuf,
        error: io::Error,
    },
}

impl SourceError {
    pub(crate) fn from_disk(path: &Path) -> impl FnOnce(io::Error) -> SourceError {
        let path = path.to_owned();
        move |error| SourceError::Disk { path, error }
    }

    /// A task that did not finish, for example at shutdown.
    pub(crate) fn from_join_error(error: tokio::task::JoinError) -> SourceError {
        SourceError::Source(format!("the work was cut short: {error}"))
    }
}

fn indent_lines(tried: &[String]) -> String {
    let lines: Vec<String> = tried.iter().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

fn describe_disk_error(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    if error.kind() == ErrorKind::StorageFull {
        return format!(
            "the disk is full at {path}; make room, or set `models_dir` in [engine] to a larger \
             disk, and try again: what was fetched is kept"
        );
    }
    format!("cannot write {path}: {error}")
}
