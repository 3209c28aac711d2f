//! `tollgate models pull`: downloads built-in models, with a progress bar for each.

use std::sync::Arc;

use control::operation::Operation;
use weights::{EntryKind, Puller, State, manifest};

use crate::bar::{Bar, DRAW_EVERY};
use crate::failure::Failure;
use crate::local;
use crate::operator::Operator;
use crate::output::print_line;

/// Downloads models. This is safe while the service runs: it sees complete files only, and each
/// model is downloaded by one process at a time.
pub(crate) async fn run(operator: &mut Operator<'_>, ids: &[String]) -> Result<(), Failure> {
    let config = operator.surroundings.sources(Vec::new()).read()?;
    let puller = local::puller(operator.surroundings, &config.engine)?;
    let defaults = manifest().models().filter(|it| it.default && it.kind != EntryKind::Library);
    let defaults: Vec<String> = defaults.map(|it| it.id.clone()).collect();
    for id in if ids.is_empty() { &defaults } else { ids } {
        fetch(&puller, id).await?;
    }
    if operator.is_running() {
        operator.perform(Operation::ReloadModels).await?;
    }
    Ok(())
}

async fn fetch(puller: &Arc<Puller>, id: &str) -> Result<(), Failure> {
    let mut bar = Bar::new(id);
    let pull = puller.pull(id);
    tokio::pin!(pull);
    let outcome = loop {
        tokio::select! {
            outcome = &mut pull => break outcome,
            () = tokio::time::sleep(DRAW_EVERY) => {
                if let State::Fetching(progress) = puller.state(id) {
                    bar.show(progress);
                }
            }
        }
    };
    bar.end();
    outcome.map_err(|error| Failure::Failed(error.to_string()))?;
    if manifest().model(id).is_some_and(|it| it.in_program) {
        return print_line(&format!("{id} is part of the program"));
    }
    let folder = weights::folder(&puller.settings().models_dir, id);
    print_line(&format!("{id} is in {}", folder.display()))
}
