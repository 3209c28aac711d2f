//! The environment of a command: variables, working directory, data directory.

use std::path::PathBuf;

use config::data_dir::{self, DataDir};
use config::environment::Environment;
use config::sources::{FlagSetting, Request, Sources};

use crate::args::ServiceLocation;
use crate::failure::Failure;

#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The file of `--config`, if given.
    pub(crate) config_file: Option<PathBuf>,
    pub(crate) folder: PathBuf,
    pub(crate) environment: Environment,
    pub(crate) data_dir: DataDir,
}

impl Surroundings {
    pub(crate) fn look(place: &ServiceLocation) -> Result<Surroundings, Failure> {
        let environment = Environment::of_process();
        let folder = std::env::current_dir().map_err(|error| {
            Failure::Failed(format!("cannot tell the working directory: {error}"))
        })?;
        let mut data_dir = data_dir::choose(place.data_dir.as_deref(), &environment);
        data_dir.path = folder.join(data_dir.path);
        Ok(Surroundings { config_file: place.config.clone(), folder, environment, data_dir })
    }

    /// Gathers the configuration, with these settings from flags.
    pub(crate) fn sources(&self, flags: Vec<FlagSetting>) -> Sources {
        Sources::gather(&Request {
            file: self.config_file.clone(),
            folder: self.folder.clone(),
            environment: self.environment.clone(),
            flags,
        })
    }
}
