//! Tests of the configuration from the operator's view: text in, settings or faults out.

mod brand;
mod documents;
mod faults;
mod layers;
mod parsing;
mod secrets;
mod tiers;

use std::path::Path;

use tempfile::TempDir;

use crate::environment::ProcessEnvironment;
use crate::fault::InvalidConfig;
use crate::read::ServiceConfig;
use crate::sources::{ConfigSources, FlagSetting, SourceInputs};

/// A folder with files, an environment and flags, read as by the binary.
struct ConfigFixture {
    folder: TempDir,
    environment: Vec<(String, String)>,
    flags: Vec<FlagSetting>,
}

impl ConfigFixture {
    fn empty() -> ConfigFixture {
        let folder = TempDir::new().expect("a temporary folder");
        ConfigFixture { folder, environment: Vec::new(), flags: Vec::new() }
    }

    fn with_config(text: &str) -> ConfigFixture {
        ConfigFixture::empty().file("tollgate.toml", text)
    }

    fn file(self, name: &str, text: &str) -> ConfigFixture {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> ConfigFixture {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn listen_flag(mut self, value: &str) -> ConfigFixture {
        let flag = "--listen";
        let value = value.to_owned();
        self.flags.push(FlagSetting { flag, section: "server", key: "listen", value });
        self
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn sources(&self) -> ConfigSources {
        ConfigSources::gather(&SourceInputs {
            file: None,
            folder: self.path().to_owned(),
            environment: self.environment.iter().cloned().collect::<ProcessEnvironment>(),
            flags: self.flags.clone(),
        })
    }

    fn read(&self) -> Result<ServiceConfig, InvalidConfig> {
        self.sources().read()
    }

    #[track_caller]
    fn config(&self) -> ServiceConfig {
        self.read().unwrap_or_else(|invalid| panic!("{}", self.relative(&invalid)))
    }

    /// Returns the faults with paths relative to the folder.
    fn relative(&self, invalid: &InvalidConfig) -> String {
        invalid.to_string().replace(&format!("{}/", self.path().display()), "")
    }

    #[track_caller]
    fn check_faults(&self, expected: &expect_test::Expect) {
        let invalid = self.read().expect_err("the configuration is wrong");
        expected.assert_eq(&(self.relative(&invalid) + "\n"));
    }
}
