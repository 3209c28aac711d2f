//! The environment of a command: variables, working directory, data directory.

use std::path::PathBuf;

use config::data_dir::{self, DataDir};
use config::environment::ProcessEnvironment;
use config::sources::{ConfigSources, FlagSetting, SourceInputs};

use crate::args::ServiceLocation;
use crate::failure::CommandError;

#[derive(Debug, Clone)]
pub(crate) struct CommandEnvironment {
    /// The file of `--config`, if given.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) environment: ProcessEnvironment,
    pub(crate) data_dir: DataDir,
}

impl CommandEnvironment {
    pub(crate) fn detect(place: &ServiceLocation) -> Result<CommandEnvironment, CommandError> {
        let environment = ProcessEnvironment::of_process();
        let folder = std::env::current_dir().map_err(|error| {
            CommandError::Failed(format!("cannot tell the working directory: {error}"))
        })?;
        let mut data_dir = data_dir::choose_data_dir(place.data_dir.as_deref(), &environment);
        data_dir.path = folder.join(data_dir.path);
        Ok(CommandEnvironment { config_file: place.config.clone(), folder, environment, data_dir })
    }

    /// Gathers the configuration, with these settings from flags.
    pub(crate) fn gather_sources(&self, flags: Vec<FlagSetting>) -> ConfigSources {
        ConfigSources::gather(&SourceInputs {
            file: self.config_file.clone(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            flags,
        })
    }
}
