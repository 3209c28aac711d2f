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

use crate::environment::Environment;
use crate::fault::Invalid;
use crate::read::Config;
use crate::sources::{FlagSetting, Request, Sources};

/// A folder with files, an environment and flags, read as by the binary.
struct Scene {
    folder: TempDir,
    environment: Vec<(String, String)>,
    flags: Vec<FlagSetting>,
}

impl Scene {
    fn empty() -> Scene {
        let folder = TempDir::new().expect("a temporary folder");
        Scene { folder, environment: Vec::new(), flags: Vec::new() }
    }

    fn with_config(text: &str) -> Scene {
        Scene::empty().file("tollgate.toml", text)
    }

    fn file(self, name: &str, text: &str) -> Scene {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn variable(mut self, name: &str, value: &str) -> Scene {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    fn listen_flag(mut self, value: &str) -> Scene {
        let flag = "--listen";
        let value = value.to_owned();
        self.flags.push(FlagSetting { flag, section: "server", key: "listen", value });
        self
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn sources(&self) -> Sources {
        Sources::gather(&Request {
            file: None,
            folder: self.path().to_owned(),
            environment: self.environment.iter().cloned().collect::<Environment>(),
            flags: self.flags.clone(),
        })
    }

    fn read(&self) -> Result<Config, Invalid> {
        self.sources().read()
    }

    #[track_caller]
    fn config(&self) -> Config {
        self.read().unwrap_or_else(|invalid| panic!("{}", self.relative(&invalid)))
    }

    /// Returns the faults with paths relative to the folder.
    fn relative(&self, invalid: &Invalid) -> String {
        invalid.to_string().replace(&format!("{}/", self.path().display()), "")
    }

    #[track_caller]
    fn check_faults(&self, expected: &expect_test::Expect) {
        let invalid = self.read().expect_err("the configuration is wrong");
        expected.assert_eq(&(self.relative(&invalid) + "\n"));
    }
}
