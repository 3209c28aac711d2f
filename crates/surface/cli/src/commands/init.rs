//! `tollgate init`: writes a first configuration file with the engines found on this machine.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use config::document::render_template;
use config::sources::FILE_NAME;

use crate::args::InitArgs;
use crate::command_environment::CommandEnvironment;
use crate::commands::engine_discovery::{self, FoundEngine};
use crate::failure::CommandError;
use crate::output::print_line;

pub(crate) async fn run_init_command(
    surroundings: &CommandEnvironment,
    init: &InitArgs,
) -> Result<(), CommandError> {
    let named = surroundings.config_file.clone().unwrap_or_else(|| FILE_NAME.into());
    let path = surroundings.folder.join(&named);
    let shown = named.display();
    if path.exists() && !init.force {
        return Err(CommandError::Failed(format!(
            "{shown} already exists; use --force to overwrite it"
        )));
    }
    let found = if init.no_look {
        Vec::new()
    } else {
        engine_discovery::find_engines(engine_discovery::CANDIDATES).await?
    };
    let text = render_template() + &engine_discovery::render_engine_entries(&found);
    let mut options = OpenOptions::new();
    options.write(true).create_new(!init.force).create(init.force).truncate(init.force);
    let mut file = options.open(&path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::Failed(format!("{shown} already exists; use --force to overwrite it"))
        }
        _ => CommandError::Failed(format!("cannot write {shown}: {error}")),
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| CommandError::Failed(format!("cannot write {shown}: {error}")))?;
    for FoundEngine { candidate, models } in &found {
        let count = models.len();
        print_line(&format!(
            "found {} on port {}: {count} model(s)",
            candidate.name, candidate.port
        ))?;
    }
    print_line(&format!(
        "wrote {shown}; change it, then run `tollgate doctor` and `tollgate serve`"
    ))
}
