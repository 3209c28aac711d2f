//! Lists and downloads the files of built-in models for the console.

use std::sync::Arc;

use api::console::OperateError;
use control::actor::Actor;
use control::operation::Operation;
use control::service::Service;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;
use weights::{ModelFiles, State, manifest};

use crate::commands::models::type_of;
use crate::local::Local;

/// Operations in addition to those of the control socket, because only the service downloads.
#[derive(Debug, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub(super) enum WeightsAsked {
    ListWeights,
    /// Starts downloading a model's files. The console polls `ListWeights` for progress.
    PullWeights {
        id: String,
    },
}

pub(super) fn answer(
    asked: WeightsAsked,
    service: &Arc<Service>,
    local: Option<&Local>,
) -> Result<Value, OperateError> {
    match (asked, local) {
        (WeightsAsked::ListWeights, None) => Ok(json!({ "weights": [] })),
        (WeightsAsked::ListWeights, Some(local)) => Ok(list(local)),
        (WeightsAsked::PullWeights { .. }, None) => {
            Err(OperateError::Refused("this service runs no models of its own".to_owned()))
        }
        (WeightsAsked::PullWeights { id }, Some(local)) => pull(&id, service, local),
    }
}

/// Lists every built-in model, in the catalogue or not.
fn list(local: &Local) -> Value {
    let lines = manifest().models().filter_map(|files| line(files, local));
    json!({ "weights": lines.collect::<Vec<_>>() })
}

fn line(files: &ModelFiles, local: &Local) -> Option<Value> {
    let model_type = type_of(files)?;
    let (state, done_bytes, reason) = match local.puller.state(&files.id) {
        State::Ready => ("ready", None, None),
        State::Fetching(progress) => ("fetching", Some(progress.done_bytes), None),
        State::NotFetched => ("not_fetched", None, None),
        State::Failed(reason) => ("failed", None, Some(reason)),
    };
    // Includes the dependencies, because they are downloaded too.
    let bytes: u64 = manifest().with_needs(&files.id).iter().map(|entry| entry.bytes()).sum();
    Some(json!({
        "id": files.id,
        "name": files.title,
        "type": model_type,
        "bytes": bytes,
        "isInProgram": files.in_program,
        "state": state,
        "doneBytes": done_bytes,
        "reason": reason,
    }))
}

fn pull(id: &str, service: &Arc<Service>, local: &Local) -> Result<Value, OperateError> {
    let files = manifest().model(id).filter(|files| type_of(files).is_some());
    let unknown = || OperateError::Refused(format!("there is no built-in model {id:?}"));
    let files = files.ok_or_else(unknown)?;
    let is_due = !matches!(local.puller.state(id), State::Ready | State::Fetching(_));
    if is_due {
        let (puller, service) = (Arc::clone(&local.puller), Arc::clone(service));
        // Not tracked with the service's tasks: shutdown must not wait for a download.
        TaskTracker::new().spawn(async move {
            if let Err(error) = puller.pull(&files.id).await {
                tracing::warn!(model.id = files.id, "{} was not fetched: {error}", files.id);
                return;
            }
            // A model outside the default set is added to the catalogue once its files are
            // complete.
            let reloaded = service.perform(&Actor::of_service(), Operation::ReloadModels).await;
            if let Err(error) = reloaded {
                tracing::warn!(%error, "the catalogue was not read again: {error}");
            }
        });
    }
    Ok(json!({ "pulling": { "id": id, "begun": is_due } }))
}
