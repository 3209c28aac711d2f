//! The data directory: contains the database, the socket and the media.

use std::path::{Path, PathBuf};

use crate::environment::ProcessEnvironment;
use crate::origin::SettingOrigin;

/// The directory and the source that set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataDir {
    pub path: PathBuf,
    pub origin: SettingOrigin,
}

/// Chooses the data directory. Precedence: the flag, `TOLLGATE_DATA_DIR`, systemd's
/// `STATE_DIRECTORY`, the user's data directory, `/var/lib/tollgate`.
pub fn choose_data_dir(flag: Option<&Path>, environment: &ProcessEnvironment) -> DataDir {
    if let Some(path) = flag {
        return DataDir { path: path.to_owned(), origin: SettingOrigin::Flag("--data-dir") };
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
        return DataDir { path, origin: SettingOrigin::Environment(name.to_owned()) };
    }
    DataDir { path: PathBuf::from("/var/lib/tollgate"), origin: SettingOrigin::Default }
}
