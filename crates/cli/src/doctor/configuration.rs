//! Checks that the configuration is valid, and lists its warnings.

use config::fault::Invalid;
use config::origin::Origin;
use config::read::Config;
use config::sources::Sources;

use super::Finding;

pub(crate) fn check(sources: &Sources, config: &Result<Config, Invalid>) -> Vec<Finding> {
    let file = sources.file.as_ref();
    let file = file.map_or_else(|| "no file".to_owned(), |file| file.display().to_string());
    match config {
        Ok(config) => {
            let changed =
                sources.settings().iter().filter(|it| it.origin != Origin::Default).count();
            let found = format!("{file}; {changed} settings differ from their defaults");
            let mut findings = vec![Finding::ok("configuration", found)];
            findings.extend(config.warnings.iter().map(|warning| {
                let fix = "put the secret into the environment or a file";
                Finding::warning("secrets", warning.to_string(), fix)
            }));
            findings
        }
        Err(invalid) => {
            let fix = "correct it; `tollgate config reference` lists every key";
            let finding = |fault: &config::fault::Fault| {
                Finding::failed("configuration", fault.to_string(), fix)
            };
            invalid.0.iter().map(finding).collect()
        }
    }
}
