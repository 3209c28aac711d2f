//! ComfyUI: pictures are uploaded, a workflow with its slots filled in is queued, and what its
//! nodes made is fetched.

mod workflow;

use std::sync::Arc;

use bytes::Bytes;
use engine::{
    CutOutRequest, EditRequest, EngineError, ImageAnswer, ImageEngine, ImageFuture, ImageRequest,
    Picture, UpscaleRequest,
};
use outbound::{Content, FormFile};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Value, json};

pub use workflow::{Slot, Workflow, WorkflowFault};

use crate::job::{self, Stop};
use crate::picture;
use crate::transport::{Endpoint, bad_answer};

/// The same for all of our jobs: nobody listens for their events.
const CLIENT: &str = "tollgate";

/// One workflow of one server.
pub(crate) struct ComfyUi {
    pub(crate) prompt: Endpoint,
    pub(crate) history: Endpoint,
    pub(crate) view: Endpoint,
    pub(crate) upload: Endpoint,
    pub(crate) queue: Endpoint,
    pub(crate) interrupt: Endpoint,
    pub(crate) workflow: Workflow,
}

impl ImageEngine for ComfyUi {
    fn generate(&self, request: Arc<ImageRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (Slot::Prompt, request.prompt.as_str().into()),
                (
                    Slot::NegativePrompt,
                    request.negative_prompt.as_deref().unwrap_or_default().into(),
                ),
                (Slot::Seed, picture::seed(request.seed).into()),
                (Slot::Width, size.width.into()),
                (Slot::Height, size.height.into()),
            ];
            values.extend(request.steps.map(|it| (Slot::Steps, it.into())));
            values.extend(request.cfg_scale.map(|it| (Slot::CfgScale, it.into())));
            let strength = request.adapter_strength.map(|it| f64::from(it) / 100.0);
            values.extend(strength.map(|it| (Slot::LoraStrength, it.into())));
            self.run(&values).await
        })
    }

    fn edit(&self, request: Arc<EditRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let size = request.frame.size;
            let mut values = vec![
                (Slot::Prompt, Value::from(request.prompt.as_str())),
                (Slot::NegativePrompt, "".into()),
                (Slot::Seed, picture::seed(request.seed).into()),
                (Slot::Width, size.width.into()),
                (Slot::Height, size.height.into()),
            ];
            for (slot, picture) in Slot::IMAGES.into_iter().zip(&request.pictures) {
                values.push((slot, self.upload(picture).await?));
            }
            if let Some(mask) = &request.mask {
                values.push((Slot::Mask, self.upload(mask).await?));
            }
            self.run(&values).await
        })
    }

    fn upscale(&self, request: Arc<UpscaleRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let mut values = vec![
                (Slot::Image, self.upload(&request.picture).await?),
                (Slot::Scale, request.scale.into()),
                (Slot::Width, request.size.width.into()),
                (Slot::Height, request.size.height.into()),
                (Slot::Prompt, request.prompt.as_deref().unwrap_or_default().into()),
            ];
            values.extend(request.creativity.map(|it| (Slot::Creativity, it.into())));
            self.run(&values).await
        })
    }

    fn cut_out(&self, request: Arc<CutOutRequest>) -> ImageFuture<'_> {
        Box::pin(async move {
            let image = self.upload(&request.picture).await?;
            self.run(&[(Slot::Image, image)]).await
        })
    }

    fn can_be_stopped(&self) -> bool {
        true
    }
}

impl ComfyUi {
    async fn run(&self, values: &[(Slot, Value)]) -> Result<ImageAnswer, EngineError> {
        let graph = self.workflow.filled(values)?;
        let body = json!({"prompt": graph, "client_id": CLIENT}).to_string();
        let accepted = self.prompt.ask(body.into_bytes()).await?;
        let accepted: Accepted = parse(&accepted)?;
        let id = job::id(&accepted.prompt_id)?.to_owned();
        let stop = self.stop(id.clone());
        let rest = format!("/{id}");
        let made = job::outcome(self.history.timeouts.answer, || async {
            read(&self.history.fetch(&rest).await?, &id)
        });
        let made = made.await;
        if !matches!(made, Err(EngineError::Timeout { .. })) {
            stop.disarm();
        }
        let file = self.fetch(&made?).await?;
        Ok(ImageAnswer { file, ..ImageAnswer::default() })
    }

    /// Takes a job out of the queue, or interrupts it if it is the one that runs.
    fn stop(&self, id: String) -> Stop {
        let (queue, interrupt) = (self.queue.clone(), self.interrupt.clone());
        Stop::with(async move {
            let removal = json!({"delete": [id]}).to_string();
            let _ = queue.ask(removal.into_bytes()).await;
            let Ok(told) = queue.fetch("").await else { return };
            if is_running(&told, &id) {
                let named = json!({"prompt_id": id}).to_string();
                let _ = interrupt.ask(named.into_bytes()).await;
            }
        })
    }

    /// Puts a picture where nodes can load it, and gives its name there.
    async fn upload(&self, picture: &Picture) -> Result<Value, EngineError> {
        let name = format!("tollgate.{}", picture.kind.extension);
        let (mime, bytes) = (picture.kind.mime, picture.bytes.clone());
        let files = [("image", FormFile { name: &name, mime, bytes })];
        let answer = self.upload.ask_with(Content::form_of_files(&[], &files)).await?;
        let put: Uploaded = parse(&answer)?;
        Ok(match put.subfolder.as_str() {
            "" => put.name.into(),
            folder => format!("{folder}/{}", put.name).into(),
        })
    }

    async fn fetch(&self, made: &Made) -> Result<Bytes, EngineError> {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let rest = format!(
            "?filename={}&subfolder={}&type={}",
            encoded(&made.filename),
            encoded(&made.subfolder),
            encoded(&made.kind)
        );
        self.view.fetch(&rest).await
    }
}

#[derive(Deserialize)]
struct Accepted {
    prompt_id: String,
}

#[derive(Deserialize)]
struct Uploaded {
    name: String,
    #[serde(default)]
    subfolder: String,
}

/// A file that a node made.
#[derive(Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Made {
    filename: String,
    #[serde(default)]
    subfolder: String,
    #[serde(default, rename = "type")]
    kind: String,
}

/// What the history says of a job; nothing while it goes on. What nodes only showed in passing
/// counts where none of them has put anything out.
pub(crate) fn read(body: &[u8], id: &str) -> Result<Option<Made>, EngineError> {
    let history: Value = parse(body)?;
    let Some(job) = history.get(id) else { return Ok(None) };
    if job["status"]["status_str"] == "error" {
        return Err(bad_answer(format!("its workflow failed: {}", reason(&job["status"]))));
    }
    let nodes = job["outputs"].as_object().into_iter().flatten();
    let files = nodes.flat_map(|(_, node)| node["images"].as_array().into_iter().flatten());
    let mut files: Vec<Made> =
        files.filter_map(|file| serde_json::from_value(file.clone()).ok()).collect();
    files.sort_by_key(|file| file.kind != "output");
    let first = files.into_iter().next();
    first.map(Some).ok_or_else(|| bad_answer("its workflow put out no picture"))
}

fn reason(status: &Value) -> String {
    let messages = status["messages"].as_array().into_iter().flatten();
    let mut failed = messages.filter(|message| message[0] == "execution_error");
    let told = failed.next().and_then(|message| message[1]["exception_message"].as_str());
    told.unwrap_or("it gave no reason").trim().chars().take(500).collect()
}

fn is_running(body: &[u8], id: &str) -> bool {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let mut running = told["queue_running"].as_array().into_iter().flatten();
    running.any(|entry| entry[1] == id)
}

fn parse<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Result<T, EngineError> {
    serde_json::from_slice(body).map_err(|error| bad_answer(format!("it is not JSON: {error}")))
}
