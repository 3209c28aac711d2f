//! `tollgate models pull`: downloads built-in models, with a progress bar for each.

use std::sync::Arc;

use control::operation::ControlOperation;
use weights::{DownloadState, EntryKind, ModelPuller, embedded_manifest};

use crate::bar::{DRAW_EVERY, ProgressBar};
use crate::failure::CommandError;
use crate::local;
use crate::operator::OperationClient;
use crate::output::print_line;

/// Downloads models. This is safe while the service runs: it sees complete files only, and each
/// model is downloaded by one process at a time.
pub(crate) async fn run_pull_command(
    operator: &mut OperationClient<'_>,
    ids: &[String],
) -> Result<(), CommandError> {
    let config = operator.surroundings.gather_sources(Vec::new()).read()?;
    let puller = local::build_puller(operator.surroundings, &config.engine)?;
    let defaults =
        embedded_manifest().models().filter(|it| it.default && it.kind != EntryKind::Library);
    let defaults: Vec<String> = defaults.map(|it| it.id.clone()).collect();
    for id in if ids.is_empty() { &defaults } else { ids } {
        pull_with_progress(&puller, id).await?;
    }
    if operator.is_running() {
        operator.perform(ControlOperation::ReloadModels).await?;
    }
    Ok(())
}

async fn pull_with_progress(puller: &Arc<ModelPuller>, id: &str) -> Result<(), CommandError> {
    let mut bar = ProgressBar::new(id);
    let pull = puller.pull_model(id);
    tokio::pin!(pull);
    let outcome = loop {
        tokio::select! {
            outcome = &mut pull => break outcome,
            () = tokio::time::sleep(DRAW_EVERY) => {
                if let DownloadState::Fetching(progress) = puller.model_state(id) {
                    bar.show(progress);
                }
            }
        }
    };
    bar.finish_line();
    outcome.map_err(|error| CommandError::Failed(error.to_string()))?;
    if embedded_manifest().find_model(id).is_some_and(|it| it.in_program) {
        return print_line(&format!("{id} is part of the program"));
    }
    let folder = weights::model_folder(&puller.settings().models_dir, id);
    print_line(&format!("{id} is in {}", folder.display()))
}
