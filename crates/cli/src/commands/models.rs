//! `tollgate models`: the catalogue, the state of downloads, and a test request.

mod pull;
mod trial;

use std::path::{Path, PathBuf};

use control::operation::Operation;
use control::reply::{ModelLine, Reply};
use weights::{EntryKind, ModelFiles, gguf, manifest};

use crate::args;
use crate::failure::Failure;
use crate::operator::{Operator, unexpected};
use crate::output::{Listing, print_json, print_line};

pub(crate) async fn run(
    operator: &mut Operator<'_>,
    command: &args::Models,
) -> Result<(), Failure> {
    match command {
        args::Models::List(listing) => {
            let mut models = operator.models().await?;
            if operator.engine.is_built_in() {
                add_unoffered(&mut models);
                add_broken(&mut models, &models_dir(operator)?);
            }
            if listing.json { print_json(&models) } else { print_models(&models) }
        }
        args::Models::Reload(listing) => {
            let reply = operator.perform_running(Operation::ReloadModels).await?;
            let Reply::Reloaded(reloaded) = reply else { return Err(unexpected()) };
            if listing.json {
                return print_json(&reloaded);
            }
            print_line(&format!("reloaded: {} models", reloaded.models))
        }
        args::Models::Pull { ids } => pull::run(operator, ids).await,
        args::Models::Test { id, listing } => trial::run(operator, id, *listing).await,
    }
}

/// Adds built-in models that are not downloaded and therefore not in the catalogue.
fn add_unoffered(models: &mut Vec<ModelLine>) {
    for files in manifest().models() {
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
            weights: Some("not fetched".to_owned()),
        });
    }
}

fn models_dir(operator: &Operator<'_>) -> Result<PathBuf, Failure> {
    let section = operator.surroundings.sources(Vec::new()).read()?.engine;
    Ok(operator.surroundings.data_dir.path.join(section.models_dir))
}

/// Adds the operator's own GGUF files that cannot be used, with the reason.
fn add_broken(models: &mut Vec<ModelLine>, models_dir: &Path) {
    for file in gguf::dropped(models_dir) {
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

fn print_models(models: &[ModelLine]) -> Result<(), Failure> {
    let headings = ["ID", "TYPE", "NAME", "PROVIDERS", "TRAITS", "STATE", "WEIGHTS"];
    let mut table = Listing::new(&headings);
    for model in models {
        let state = if model.offline { "offline" } else { "online" };
        table.row([
            (&model.id).into(),
            (&model.model_type).into(),
            (&model.name).into(),
            model.providers.join(", ").into(),
            model.traits.join(", ").into(),
            state.into(),
            weights(model).into(),
        ]);
    }
    table.print()
}

/// Returns the state and size, such as `ready, 98 MB`.
fn weights(model: &ModelLine) -> String {
    let Some(state) = &model.weights else { return String::new() };
    match manifest().model(&model.id) {
        Some(files) => format!("{state}, {} MB", files.bytes().div_ceil(1_000_000)),
        None => state.clone(),
    }
}
