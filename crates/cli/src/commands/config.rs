//! `tollgate config`: shows and checks the configuration.

use config::document::reference;
use config::show::Setting;
use serde_json::json;

use crate::args;
use crate::failure::Failure;
use crate::output::{Listing, print, print_json, print_line};
use crate::surroundings::Surroundings;

pub(crate) fn run(surroundings: &Surroundings, command: &args::Config) -> Result<(), Failure> {
    match command {
        args::Config::Show { origin, listing } => show(surroundings, *origin, *listing),
        args::Config::Check => check(surroundings),
        args::Config::Reference => print(&reference()),
    }
}

fn show(surroundings: &Surroundings, origin: bool, listing: args::Listing) -> Result<(), Failure> {
    let mut settings = surroundings.sources(Vec::new()).settings();
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
        let mut table = Listing::new(&["SETTING", "VALUE", "ORIGIN"]);
        for Setting { name, value, origin } in settings {
            let value = value.unwrap_or_else(|| "not set".to_owned());
            table.row([name.into(), value.into(), origin.into()]);
        }
        return table.print();
    }
    let is_set = |setting: &Setting| setting.value.is_some();
    let mut table = Listing::new(&["SETTING", "VALUE"]);
    for setting in settings.into_iter().filter(is_set) {
        table.row([setting.name.into(), setting.value.unwrap_or_default().into()]);
    }
    table.print()
}

fn data_dir(surroundings: &Surroundings) -> Setting {
    Setting {
        name: "data-dir".to_owned(),
        value: Some(surroundings.data_dir.path.display().to_string()),
        origin: surroundings.data_dir.origin.clone(),
    }
}

fn check(surroundings: &Surroundings) -> Result<(), Failure> {
    let sources = surroundings.sources(Vec::new());
    let config = sources.read()?;
    for warning in &config.warnings {
        print_line(&format!("warning: {warning}"))?;
    }
    let file = sources.file.map_or_else(
        || "no configuration file; the defaults are right".to_owned(),
        |file| format!("{} is right", file.display()),
    );
    print_line(&file)
}
