//! Merges the configuration layers: the file and its includes, the environment, the flags.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::environment::ProcessEnvironment;
use crate::fault::{ConfigFault, FaultList, InvalidConfig};
use crate::include;
use crate::node::{ConfigNode, ConfigTable, ConfigValue, parse_toml};
use crate::origin::SettingOrigin;

/// The file that is read if it exists and no other file is named.
pub const FILE_NAME: &str = "tollgate.toml";
/// Enough for a catalogue of thousands of models; rejects a disk image given by mistake.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The inputs from the command line and its environment.
#[derive(Debug, Clone, Default)]
pub struct SourceInputs {
    /// The file of `--config`. Default: `TOLLGATE_CONFIG`, or else [`FILE_NAME`] in `folder`.
    pub file: Option<PathBuf>,
    /// The working directory.
    pub folder: PathBuf,
    pub environment: ProcessEnvironment,
    pub flags: Vec<FlagSetting>,
}

/// A setting given on the command line.
#[derive(Debug, Clone)]
pub struct FlagSetting {
    /// The flag with its dashes: `--listen`.
    pub flag: &'static str,
    pub section: &'static str,
    pub key: &'static str,
    pub value: String,
}

/// All layers merged into one tree. Precedence: flags, environment, file, default.
#[derive(Debug)]
pub struct ConfigSources {
    /// The file that was read, if there is one.
    pub file: Option<PathBuf>,
    pub environment: ProcessEnvironment,
    /// The folder that relative paths in the file start from.
    pub(crate) folder: PathBuf,
    pub(crate) table: ConfigTable,
    /// Faults found while reading the layers.
    pub(crate) unreadable: Vec<ConfigFault>,
}

impl ConfigSources {
    pub fn gather(request: &SourceInputs) -> ConfigSources {
        let faults = FaultList::default();
        let file = choose_file(request);
        let mut table = ConfigTable::default();
        let mut folder = request.folder.clone();
        if let Some((path, origin)) = &file {
            table = read_file(path, origin, &faults);
            folder = path.parent().map_or(folder, Path::to_owned);
            include::append_included_files(&mut table, &folder, &faults);
        }
        request.environment.layer_over(&mut table, &faults);
        for setting in &request.flags {
            let value = ConfigValue::Text(setting.value.clone());
            let node = ConfigNode { value, origin: SettingOrigin::Flag(setting.flag) };
            table.insert_at(&[setting.section, setting.key], node);
        }
        ConfigSources {
            file: file.map(|(path, _)| path),
            environment: request.environment.clone(),
            folder,
            table,
            unreadable: faults.into_sorted(),
        }
    }

    /// Returns the faults found while gathering, as a list for further faults.
    pub(crate) fn faults(&self) -> FaultList {
        let faults = FaultList::default();
        for fault in &self.unreadable {
            faults.push(&fault.origin, fault.message.clone());
        }
        faults
    }
}

/// Returns the value if no fault was found, otherwise all faults.
pub(crate) fn value_or_faults<T>(value: Option<T>, faults: FaultList) -> Result<T, InvalidConfig> {
    match value {
        Some(value) if faults.is_empty() => Ok(value),
        _ => Err(InvalidConfig(faults.into_sorted())),
    }
}

fn choose_file(request: &SourceInputs) -> Option<(PathBuf, SettingOrigin)> {
    if let Some(path) = &request.file {
        return Some((request.folder.join(path), SettingOrigin::Flag("--config")));
    }
    let variable = "TOLLGATE_CONFIG";
    if let Some(path) = request.environment.get(variable).filter(|path| !path.is_empty()) {
        return Some((request.folder.join(path), SettingOrigin::Environment(variable.to_owned())));
    }
    let usual = request.folder.join(FILE_NAME);
    usual.exists().then_some((usual, SettingOrigin::Default))
}

/// Reads a settings file. `origin` is the setting that named it, for the fault if it cannot be
/// read.
pub(crate) fn read_file(path: &Path, origin: &SettingOrigin, faults: &FaultList) -> ConfigTable {
    match text_of(path) {
        Ok(text) => parse_toml(&to_display_path(path), &text, faults),
        Err(problem) => {
            faults.push(origin, format!("cannot read {}: {problem}", to_display_path(path)));
            ConfigTable::default()
        }
    }
}

fn text_of(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    let count = read.map_err(|error| error.to_string())?;
    if FILE_BYTES_MAX < u64::try_from(count).unwrap_or(u64::MAX) {
        return Err(format!("it is larger than {FILE_BYTES_MAX} bytes"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        format!("it is not UTF-8 text (byte {offset})")
    })
}

/// Returns a path for messages: relative to the working directory if it is inside it.
fn to_display_path(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    relative.unwrap_or_else(|| path.to_owned()).display().to_string()
}
