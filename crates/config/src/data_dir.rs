//! The data directory: where the database, the socket and the media are.

use std::path::{Path, PathBuf};

use crate::environment::Environment;
use crate::origin::Origin;

/// The directory and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDir {
    pub path: PathBuf,
    pub origin: Origin,
}

/// A flag wins over `TOLLGATE_DATA_DIR`, which wins over the usual place: what systemd gives a
/// service, else the user's own data directory, else that of the machine.
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
