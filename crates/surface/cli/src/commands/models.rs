//! `tollgate models`: the catalogue, the state of downloads, and a test request.

mod pull;
mod test_request;

use std::path::{Path, PathBuf};

use control::operation::ControlOperation;
use control::reply::{ControlReply, ModelLine};
use weights::{EntryKind, ModelFiles, embedded_manifest, gguf};

use crate::args;
use crate::failure::CommandError;
use crate::operator::{OperationClient, unexpected_reply_error};
use crate::output::{TextTable, print_json, print_line};

pub(crate) async fn run_models_command(
    operator: &mut OperationClient<'_>,
    command: &args::ModelsCommand,
) -> Result<(), CommandError> {
    match command {
        args::ModelsCommand::List(listing) => {
            let mut models = operator.list_models().await?;
            if operator.engine.is_built_in() {
                add_unoffered(&mut models);
                add_broken(&mut models, &models_dir(operator)?);
            }
            if listing.json { print_json(&models) } else { print_models(&models) }
        }
        args::ModelsCommand::Reload(listing) => {
            let reply = operator.perform_running(ControlOperation::ReloadModels).await?;
            let ControlReply::Reloaded(reloaded) = reply else {
                return Err(unexpected_reply_error());
            };
            if listing.json {
                return print_json(&reloaded);
            }
            print_line(&format!("reloaded: {} models", reloaded.models))
        }
        args::ModelsCommand::Pull { ids } => pull::run_pull_command(operator, ids).await,
        args::ModelsCommand::Test { id, listing } => {
            test_request::run_test_command(operator, id, *listing).await
        }
    }
}

/// Adds built-in models that are not downloaded and therefore not in the catalogue.
fn add_unoffered(models: &mut Vec<ModelLine>) {
    for files in embedded_manifest().models() {
        let Some(model_type) = type_of(files) else { continue };
        if models.iter().any(|model| model.id == files.id) {
            continue;
        }
        models.push(ModelLine {
            id: files.id.clone(),
            model_type: model_type.to_owned(),
            name: files.title.clone(),
            providers: vec!["local".to_owned()],
            traits: Vec::new(),
            offline: true,
            weights: Some("not downloaded".to_owned()),
        });
    }
}

fn models_dir(operator: &OperationClient<'_>) -> Result<PathBuf, CommandError> {
    let section = operator.surroundings.gather_sources(Vec::new()).read()?.engine;
    Ok(operator.surroundings.data_dir.path.join(section.models_dir))
}

/// Adds the operator's own GGUF files that cannot be used, with the reason.
fn add_broken(models: &mut Vec<ModelLine>, models_dir: &Path) {
    for file in gguf::list_model_files(models_dir) {
        let Err(error) = file.facts else { continue };
        if models.iter().any(|model| model.id == file.stem) {
            continue;
        }
        models.push(ModelLine {
            id: file.stem.clone(),
            model_type: "text".to_owned(),
            name: file.stem,
            providers: vec!["local".to_owned()],
            traits: Vec::new(),
            offline: true,
            weights: Some(format!("broken: {error}")),
        });
    }
}

/// Returns the model type of these files; None for files that are not a model by themselves.
pub(crate) fn type_of(files: &ModelFiles) -> Option<&'static str> {
    match files.kind {
        EntryKind::Text => Some("text"),
        EntryKind::Embedding => Some("embedding"),
        EntryKind::Transcription => Some("asr"),
        EntryKind::Speech => Some("tts"),
        EntryKind::Image => Some("image"),
        EntryKind::Upscale => Some("upscale"),
        EntryKind::Video => Some("video"),
        EntryKind::CutOut | EntryKind::Erase | EntryKind::Edit => Some("inpaint"),
        EntryKind::Safety | EntryKind::Library => None,
    }
}

fn print_models(models: &[ModelLine]) -> Result<(), CommandError> {
    let headings = ["ID", "TYPE", "NAME", "PROVIDERS", "TRAITS", "STATE", "WEIGHTS"];
    let mut table = TextTable::new(&headings);
    for model in models {
        let state = if model.offline { "offline" } else { "online" };
        table.push_row([
            (&model.id).into(),
            (&model.model_type).into(),
            (&model.name).into(),
            model.providers.join(", ").into(),
            model.traits.join(", ").into(),
            state.into(),
            format_weights(model).into(),
        ]);
    }
    table.print()
}

/// Returns the state and size, such as `ready, 98 MB`.
fn format_weights(model: &ModelLine) -> String {
    let Some(state) = &model.weights else { return String::new() };
    match embedded_manifest().find_model(&model.id) {
        Some(files) => format!("{state}, {} MB", files.total_bytes().div_ceil(1_000_000)),
        None => state.clone(),
    }
}
