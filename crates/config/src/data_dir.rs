//! The data directory: contains the database, the socket and the media.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::origin::Origin;

/// The directory and the source that set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDir {
    pub path: PathBuf,
    pub origin: Origin,
}

/// Chooses the data directory. Precedence: the flag, `TOLLGATE_DATA_DIR`, systemd's
/// `STATE_DIRECTORY`, the user's data directory, `/var/lib/tollgate`.
pub fn choose(flag: Option<&Path>, environment: &Environment) -> DataDir {
    if let Some(path) = flag {
        return DataDir { path: path.to_owned(), origin: Origin::Flag("--data-dir") };
    }
    let variables: [(&str, &[&str]); 4] = [
        ("TOLLGATE_DATA_DIR", &[]),
        ("STATE_DIRECTORY", &[]),
        ("XDG_DATA_HOME", &["tollgate"]),
        ("HOME", &[".local", "share", "tollgate"]),
    ];
    for (name, below) in variables {
        let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
        let mut path = PathBuf::from(value);
        path.extend(below);
        return DataDir { path, origin: Origin::Environment(name.to_owned()) };
    }
    DataDir { path: PathBuf::from("/var/lib/tollgate"), origin: Origin::Default }
}
