//! Checks that the configuration is valid, and lists its warnings.

use config::fault::InvalidConfig;
use config::origin::SettingOrigin;
use config::read::ServiceConfig;
use config::sources::ConfigSources;

use super::CheckFinding;

pub(crate) fn check_configuration(
    sources: &ConfigSources,
    config: &Result<ServiceConfig, InvalidConfig>,
) -> Vec<CheckFinding> {
    let file = sources.file.as_ref();
    let file = file.map_or_else(|| "no file".to_owned(), |file| file.display().to_string());
    match config {
        Ok(config) => {
            let changed = sources
                .list_settings()
                .iter()
                .filter(|it| it.origin != SettingOrigin::Default)
                .count();
            let found = format!("{file}; {changed} settings differ from their defaults");
            let mut findings = vec![CheckFinding::ok("configuration", found)];
            findings.extend(config.warnings.iter().map(|warning| {
                let fix = "put the secret into the environment or a file";
                CheckFinding::warning("secrets", warning.to_string(), fix)
            }));
            findings
        }
        Err(invalid) => {
            let fix = "correct it; `tollgate config reference` lists every key";
            let finding = |fault: &config::fault::ConfigFault| {
                CheckFinding::failed("configuration", fault.to_string(), fix)
            };
            invalid.0.iter().map(finding).collect()
        }
    }
}
