//! Lists and downloads the files of built-in models for the console.

use std::sync::Arc;

use api::console::OperateError;
use control::actor::AuditActor;
use control::operation::ControlOperation;
use control::service::ControlService;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::task::TaskTracker;
use weights::{DownloadState, ModelFiles, embedded_manifest};

use crate::commands::models::type_of;
use crate::local::LocalEngine;

/// Operations in addition to those of the control socket, because only the service downloads.
#[derive(Debug, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub(super) enum WeightsOperation {
    ListWeights,
    /// Starts downloading a model's files. The console polls `ListWeights` for progress.
    PullWeights {
        id: String,
    },
}

pub(super) fn perform_weights_operation(
    asked: WeightsOperation,
    service: &Arc<ControlService>,
    local: Option<&LocalEngine>,
) -> Result<Value, OperateError> {
    match (asked, local) {
        (WeightsOperation::ListWeights, None) => Ok(json!({ "weights": [] })),
        (WeightsOperation::ListWeights, Some(local)) => Ok(list_weights(local)),
        (WeightsOperation::PullWeights { .. }, None) => {
            Err(OperateError::Refused("this service runs no models of its own".to_owned()))
        }
        (WeightsOperation::PullWeights { id }, Some(local)) => pull_weights(&id, service, local),
    }
}

/// Lists every built-in model, in the catalogue or not.
fn list_weights(local: &LocalEngine) -> Value {
    let lines = embedded_manifest().models().filter_map(|files| to_weights_line(files, local));
    json!({ "weights": lines.collect::<Vec<_>>() })
}

fn to_weights_line(files: &ModelFiles, local: &LocalEngine) -> Option<Value> {
    let model_type = type_of(files)?;
    let (state, done_bytes, reason) = match local.puller.model_state(&files.id) {
        DownloadState::Ready => ("ready", None, None),
        DownloadState::Fetching(progress) => ("fetching", Some(progress.done_bytes), None),
        DownloadState::NotFetched => ("not_fetched", None, None),
        DownloadState::Failed(reason) => ("failed", None, Some(reason)),
    };
    // Includes the dependencies, because they are downloaded too.
    let bytes: u64 =
        embedded_manifest().with_needs(&files.id).iter().map(|entry| entry.total_bytes()).sum();
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

fn pull_weights(
    id: &str,
    service: &Arc<ControlService>,
    local: &LocalEngine,
) -> Result<Value, OperateError> {
    let files = embedded_manifest().find_model(id).filter(|files| type_of(files).is_some());
    let unknown = || OperateError::Refused(format!("there is no built-in model {id:?}"));
    let files = files.ok_or_else(unknown)?;
    let is_due =
        !matches!(local.puller.model_state(id), DownloadState::Ready | DownloadState::Fetching(_));
    if is_due {
        let (puller, service) = (Arc::clone(&local.puller), Arc::clone(service));
        // Not tracked with the service's tasks: shutdown must not wait for a download.
        TaskTracker::new().spawn(async move {
            if let Err(error) = puller.pull_model(&files.id).await {
                tracing::warn!(model.id = files.id, "{} was not downloaded: {error}", files.id);
                return;
            }
            // A model outside the default set is added to the catalogue once its files are
            // complete.
            let reloaded =
                service.perform(&AuditActor::of_service(), ControlOperation::ReloadModels).await;
            if let Err(error) = reloaded {
                tracing::warn!(%error, "the catalogue was not reloaded: {error}");
            }
        });
    }
    Ok(json!({ "pulling": { "id": id, "begun": is_due } }))
}
