//! `tollgate config`: shows and checks the configuration.

use config::document::render_reference;
use config::show::EffectiveSetting;
use serde_json::json;

use crate::args;
use crate::command_environment::CommandEnvironment;
use crate::failure::CommandError;
use crate::output::{TextTable, print_json, print_line, print_text};

pub(crate) fn run_config_command(
    surroundings: &CommandEnvironment,
    command: &args::ConfigCommand,
) -> Result<(), CommandError> {
    match command {
        args::ConfigCommand::Show { origin, listing } => {
            print_settings(surroundings, *origin, *listing)
        }
        args::ConfigCommand::Check => check_configuration(surroundings),
        args::ConfigCommand::Reference => print_text(&render_reference()),
    }
}

fn print_settings(
    surroundings: &CommandEnvironment,
    origin: bool,
    listing: args::OutputOptions,
) -> Result<(), CommandError> {
    let mut settings = surroundings.gather_sources(Vec::new()).list_settings();
    settings.insert(0, data_dir(surroundings));
    if listing.json {
        let settings: Vec<_> = settings
            .iter()
            .map(|setting| {
                json!({
                    "name": setting.name,
                    "value": setting.value,
                    "origin": setting.origin.to_string(),
                })
            })
            .collect();
        return print_json(&settings);
    }
    if origin {
        let mut table = TextTable::new(&["SETTING", "VALUE", "ORIGIN"]);
        for EffectiveSetting { name, value, origin } in settings {
            let value = value.unwrap_or_else(|| "not set".to_owned());
            table.push_row([name.into(), value.into(), origin.into()]);
        }
        return table.print();
    }
    let is_set = |setting: &EffectiveSetting| setting.value.is_some();
    let mut table = TextTable::new(&["SETTING", "VALUE"]);
    for setting in settings.into_iter().filter(is_set) {
        table.push_row([setting.name.into(), setting.value.unwrap_or_default().into()]);
    }
    table.print()
}

fn data_dir(surroundings: &CommandEnvironment) -> EffectiveSetting {
    EffectiveSetting {
        name: "data-dir".to_owned(),
        value: Some(surroundings.data_dir.path.display().to_string()),
        origin: surroundings.data_dir.origin.clone(),
    }
}

fn check_configuration(surroundings: &CommandEnvironment) -> Result<(), CommandError> {
    let sources = surroundings.gather_sources(Vec::new());
    let config = sources.read()?;
    for warning in &config.warnings {
        print_line(&format!("warning: {warning}"))?;
    }
    let file = sources.file.map_or_else(
        || "no configuration file: the defaults are used".to_owned(),
        |file| format!("{} is right", file.display()),
    );
    print_line(&file)
}
