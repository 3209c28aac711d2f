//! `tollgate init`: writes a first configuration file with the engines found on this machine.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};

use config::document::template;
use config::sources::FILE_NAME;

use crate::args::Init;
use crate::commands::look::{self, FoundEngine};
use crate::failure::Failure;
use crate::output::print_line;
use crate::surroundings::Surroundings;

pub(crate) async fn run(surroundings: &Surroundings, init: &Init) -> Result<(), Failure> {
    let named = surroundings.config_file.clone().unwrap_or_else(|| FILE_NAME.into());
    let path = surroundings.folder.join(&named);
    let shown = named.display();
    if path.exists() && !init.force {
        return Err(Failure::Failed(format!(
            "{shown} is already there; write --force to overwrite it"
        )));
    }
    let found = if init.no_look { Vec::new() } else { look::look(look::CANDIDATES).await };
    let text = template() + &look::entries(&found);
    let mut options = OpenOptions::new();
    options.write(true).create_new(!init.force).create(init.force).truncate(init.force);
    let mut file = options.open(&path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::Failed(format!("{shown} is already there; write --force to overwrite it"))
        }
        _ => Failure::Failed(format!("cannot write {shown}: {error}")),
    })?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::Failed(format!("cannot write {shown}: {error}")))?;
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
